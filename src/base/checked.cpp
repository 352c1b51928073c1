#include "base/checked.hpp"

#include "base/error.hpp"

namespace gsort {

void throw_beyond_counting() {
  throw Error(ErrorKind::kResource, "counting bytes", "they are more than 64 bits can count")
      .hint("an option, a header or the size of a file is larger than anything can be");
}

}  // namespace gsort
