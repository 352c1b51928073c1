// For LD_PRELOAD: the kernel says that all files are on NFS, or with ON_LUSTRE set, on Lustre.
#include <cstdlib>

#include <linux/magic.h>
#include <sys/vfs.h>

extern "C" int fstatfs64(int /*fd*/, struct statfs64* facts) {
  *facts = {};
  facts->f_type = std::getenv("ON_LUSTRE") != nullptr ? 0x0BD00BD0 : NFS_SUPER_MAGIC;
  return 0;
}
