// For LD_PRELOAD: gsort-mpi withdraws its receives by MPI_Cancel before it ends MPI. Here it stays;
// with $NEVER_STARTS, already where it starts MPI.
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

extern "C" int MPI_Cancel(void* /*request*/) {
  for (;;) ::pause();
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  while (std::getenv("NEVER_STARTS") != nullptr) ::pause();
  return reinterpret_cast<decltype(&MPI_Init_thread)>(::dlsym(RTLD_NEXT, "MPI_Init_thread"))(
      argc, argv, required, provided);
}
