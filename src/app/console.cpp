#include "app/console.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "base/error.hpp"
#include "io/system/sys.hpp"
#include "report/style.hpp"

namespace gsort {

void print(std::FILE* stream, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0) {
    const char* what = stream == stdout ? "writing standard output" : "writing standard error";
    throw Error::from_errno(ErrorKind::kOutput, what, errno).hint("check what it is redirected to");
  }
}

bool stderr_color(ColorMode mode) {
  return wants_color(mode, std::getenv("NO_COLOR"), std::getenv("TERM"),
                     io::sys::is_terminal(STDERR_FILENO));
}

bool stderr_rewrites() {
  const char* const term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return io::sys::is_terminal(STDERR_FILENO) && !dumb;
}

}  // namespace gsort
