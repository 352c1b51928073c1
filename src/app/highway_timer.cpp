// A function of Highway's library that gsort has in its place. Before main() the library measures
// the clock for its benchmarks, which gsort does not have: 4 of the 7 ms that `gsort --version`
// took on the development machine. The loader binds the library to the program's function; a
// library that does not ask for it never finds out.
#include <cstdint>

#include <hwy/nanobenchmark.h>

namespace hwy::platform {

std::uint64_t TimerResolution() {
  return 1;
}

}  // namespace hwy::platform
