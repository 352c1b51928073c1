#include "base/checked.hpp"

#include "base/error.hpp"

namespace gsort {

void throw_beyond_counting() {
  throw Error(ErrorKind::kResource, "counting bytes", "the number does not fit in 64 bits")
      .hint("check the options and the inputs: one of their sizes is too large");
}

}  // namespace gsort
