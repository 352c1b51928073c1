// For LD_PRELOAD: the kernel says that all files are on NFS.
#include <linux/magic.h>
#include <sys/vfs.h>

extern "C" int fstatfs64(int /*fd*/, struct statfs64* facts) {
  *facts = {};
  facts->f_type = NFS_SUPER_MAGIC;
  return 0;
}
