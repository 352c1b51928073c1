// For LD_PRELOAD: fsync, renameat and linkat of a file of more than $SLOW_FROM bytes, such as the
// output, begin 300 ms later, and linkat once more for each process before this one. They make the
// file $SLOW_MARK before they wait.
#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

void be_slow() {
  constexpr int kNewFile = 0600;
  constexpr useconds_t kMicroseconds = 300'000;
  ::close(::open(std::getenv("SLOW_MARK"), O_CREAT | O_WRONLY, kNewFile));
  ::usleep(kMicroseconds);
}

unsigned rank() {
  const char* text = std::getenv("OMPI_COMM_WORLD_RANK");
  if (text == nullptr) text = std::getenv("PMI_RANK");
  return text == nullptr ? 0 : static_cast<unsigned>(std::atoi(text));
}

}  // namespace

extern "C" int fsync(int fd) {
  struct stat facts = {};
  if (::fstat(fd, &facts) == 0 && facts.st_size > std::atoll(std::getenv("SLOW_FROM"))) be_slow();
  return reinterpret_cast<decltype(&fsync)>(::dlsym(RTLD_NEXT, "fsync"))(fd);
}

extern "C" int renameat(int from, const char* name, int to, const char* new_name) noexcept {
  struct stat facts = {};
  if (::fstatat(from, name, &facts, 0) == 0 && facts.st_size > std::atoll(std::getenv("SLOW_FROM")))
    be_slow();
  return reinterpret_cast<decltype(&renameat)>(::dlsym(RTLD_NEXT, "renameat"))(from, name, to,
                                                                               new_name);
}

extern "C" int linkat(int from, const char* name, int to, const char* new_name,
                      int flags) noexcept {
  struct stat facts = {};
  if (::fstatat(from, name, &facts, flags & AT_EMPTY_PATH) == 0 &&
      facts.st_size > std::atoll(std::getenv("SLOW_FROM"))) {
    for (unsigned waits = 0; waits <= rank(); ++waits) be_slow();
  }
  return reinterpret_cast<decltype(&linkat)>(::dlsym(RTLD_NEXT, "linkat"))(from, name, to, new_name,
                                                                           flags);
}
