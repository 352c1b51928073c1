#include "io/output/output_share.hpp"

#include <cerrno>
#include <span>

#include <fcntl.h>

#include "io/system/host_facts.hpp"
#include "io/system/space.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

File open_hidden(const std::string& hidden_path, const std::string& path) {
  const int fd = sys::open_at(AT_FDCWD, hidden_path.c_str(), O_RDWR | O_NOFOLLOW);
  if (fd < 0) {
    throw Error::from_errno(ErrorKind::kOutput, "opening", errno)
        .path(hidden_path)
        .hint("all hosts must see the folder of the output under the same path");
  }
  return {fd, path, ErrorKind::kOutput};
}

}  // namespace

std::uint64_t mark_shared_output(const std::string& hidden_path) {
  const File file = open_hidden(hidden_path, hidden_path);
  const std::uint64_t mark = sys::random_number();
  file.write_full_at(std::as_bytes(std::span(&mark, 1)), 0);
  file.sync();
  return mark;
}

OutputShare::OutputShare(const std::string& hidden_path, const std::string& path,
                         std::uint64_t mark)
    : file_(open_hidden(hidden_path, path)) {
  std::uint64_t found = 0;
  const std::size_t bytes = file_.read_full_at(std::as_writable_bytes(std::span(&found, 1)), 0);
  if (bytes != sizeof found || found != mark) {
    throw Error(ErrorKind::kOutput, "opening", "it is another file here than on the first host")
        .path(hidden_path)
        .hint("all hosts must see the folder of the output under the same path");
  }
  file_.note_places_in(places_);
  const auto facts = file_facts(hidden_path);
  is_memory_ = facts && facts->is_memory;
}

void OutputShare::write_at(std::uint64_t offset, ConstByteSpan bytes) {
  if (is_memory_) require_memory_for(file_, unlooked_bytes_, bytes.size());
  file_.write_full_at(bytes, offset);
}

void OutputShare::finish(std::uint64_t begin, std::uint64_t end) {
  file_.sync();
  places_.require_only(begin, end, file_.path(), "the output was discarded");
}

}  // namespace gsort::io
