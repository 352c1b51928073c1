// Finds the kind of the output: descriptor, stream, or regular file, following symbolic links; the
// kinds themselves are in output_regular.cpp, output_stream.cpp and output_memory.cpp.
#include "io/output/output.hpp"

#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/units.hpp"
#include "io/output/output_impl.hpp"
#include "io/system/held_signals.hpp"
#include "io/system/same_file.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

// Below this a direct write saves nothing.
constexpr std::uint64_t kLeastDirectBytes = 32 * kMiB;

Error cannot_open(const std::string& path, int error_number) {
  return failed_call(ErrorKind::kOutput, "opening", path, error_number);
}

Error exists_already(const std::string& path) {
  return Error(ErrorKind::kOutput, "creating", "it exists already")
      .path(path)
      .hint(
          "all parts of an output must be new, so that they appear together or not at all: "
          "name other parts");
}

// The descriptor that a name such as /dev/stdout or /proc/self/fd/7 stands for.
std::optional<int> descriptor_named(std::string_view path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const std::string own = "/proc/" + std::to_string(::getpid()) + "/fd/";
  for (const std::string_view prefix :
       {std::string_view("/dev/fd/"), std::string_view("/proc/self/fd/"), std::string_view(own)}) {
    if (!path.starts_with(prefix)) continue;
    int fd = -1;
    const auto [end, problem] =
        std::from_chars(path.data() + prefix.size(), path.data() + path.size(), fd);
    if (problem == std::errc() && end == path.data() + path.size() && fd >= 0) return fd;
  }
  return std::nullopt;
}

File duplicate_of(int fd, const std::string& path) {
  if (sys::access_mode(fd) == O_RDONLY) throw cannot_open(path, EBADF);
  const int copy = sys::duplicate(fd);
  if (copy < 0) throw cannot_open(path, errno);
  return {copy, path, ErrorKind::kOutput};
}

// Whether the link leads to another file than the one its text names. Some links below /proc do:
// they lead to a pipe, or to a file that was removed.
bool is_magic(const std::string& link, const std::string& target) {
  struct statfs kind = {};
  if (::statfs(folder_of(link).c_str(), &kind) != 0 || kind.f_type != PROC_SUPER_MAGIC) {
    return false;
  }
  struct stat end = {};
  struct stat named = {};
  if (sys::stat_at(AT_FDCWD, link.c_str(), &end, 0) != 0) return false;
  return sys::stat_at(AT_FDCWD, target.c_str(), &named, 0) != 0 || !sys::same_inode(end, named);
}

// Writes through a file that is not regular: opening a FIFO waits for its reader.
std::unique_ptr<Output::Impl> open_stream(const std::string& resolved, const std::string& path,
                                          bool is_report) {
  File file(sys::open_at(AT_FDCWD, resolved.c_str(), O_WRONLY | O_NOCTTY), path,
            ErrorKind::kOutput);
  if (!file.is_open()) throw cannot_open(path, errno);
  if (S_ISREG(file.facts().st_mode)) {
    throw Error(ErrorKind::kOutput, "opening", "it is a file that no longer has a name")
        .path(path)
        .hint("name another output");
  }
  return make_stream_output(std::move(file), is_report);
}

std::unique_ptr<Output::Impl> open_path(const std::string& path, const OutputOptions& options) {
  std::string resolved = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    if (const auto fd = descriptor_named(resolved)) {
      if (options.must_be_new) throw exists_already(path);
      return make_stream_output(duplicate_of(*fd, path), options.is_report);
    }
    struct stat found = {};
    if (sys::stat_at(AT_FDCWD, resolved.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) throw cannot_open(path, errno);
      if (resolved.ends_with('/')) throw cannot_open(path, ENOENT);
      return make_regular_output({{path, resolved}, std::nullopt}, options);
    }
    if (options.must_be_new) throw exists_already(path);
    if (S_ISLNK(found.st_mode)) {
      const auto target = target_of_link(resolved);
      if (!target) throw cannot_open(path, errno);
      if (is_magic(resolved, *target)) return open_stream(resolved, path, options.is_report);
      resolved = *target;
      continue;
    }
    if (S_ISDIR(found.st_mode)) throw cannot_open(path, EISDIR);
    if (!S_ISREG(found.st_mode)) return open_stream(resolved, path, options.is_report);
    OutputTarget target{{path, resolved}, found};
    refuse_attributes(target);
    require_writable(target);
    if (options.writes_into_file) return make_written_output(target, options);
    require_renamable(target, options.offers_write);
    return make_regular_output(std::move(target), options);
  }
  throw cannot_open(path, ELOOP);
}

std::unique_ptr<Output::Impl> open_standard_output(bool terminal_allowed, bool is_report) {
  if (!terminal_allowed && sys::is_terminal(STDOUT_FILENO)) {
    throw Error(ErrorKind::kUsage, "writing to standard output",
                "it is a terminal, and the output is binary")
        .hint("name a file with -o, redirect it, or give '-o -' to write to the terminal anyway");
  }
  return make_stream_output(duplicate_of(STDOUT_FILENO, "standard output"), is_report);
}

// The hint of sync_name() says that the output stays.
template <class SyncNames>
void synced_or_taken_back(const SyncNames& sync_names) {
  try {
    sync_names();
  } catch (const Error& error) {
    throw Error(error).hint(hint_for(error.error_number()));
  }
}

}  // namespace

bool wants_direct_output(DirectIo policy, std::uint64_t bytes, bool is_memory) {
  switch (policy) {
    case DirectIo::kOff:
      return false;
    case DirectIo::kOn:
      return true;
    case DirectIo::kAuto:
      break;
  }
  // commit() waits for the disk in any case, so the page cache only adds a copy and takes memory
  // from others. Measured for 1 GiB on ext4 on virtio, two cores: direct 0.35 to 0.39 s and 0.06 s
  // of CPU; through the page cache 0.29 to 0.71 s and 0.25 s of CPU when it had free pages, up
  // to 4.6 s when the virtual machine had to get them from its host first.
  return !is_memory && bytes >= kLeastDirectBytes;
}

Output::Output(const std::string& path, const OutputOptions& options)
    : impl_(path.empty() || path == "-" ? open_standard_output(path == "-", options.is_report)
                                        : open_path(path, options)) {}
Output::Output(OutputPlace place, const OutputOptions& options)
    : impl_(make_regular_output({std::move(place), std::nullopt}, options)) {}
Output::Output(Output&&) noexcept = default;
Output& Output::operator=(Output&&) noexcept = default;
Output::~Output() = default;

bool Output::is_stream() const {
  return impl_->is_stream();
}
bool Output::is_null() const {
  return impl_->is_null();
}
bool Output::keeps_bytes() const {
  return impl_->keeps_bytes();
}
const std::string& Output::path() const {
  return impl_->path();
}
const std::string& Output::folder() const {
  return impl_->folder();
}
std::string Output::written_into() const {
  return impl_->written_into();
}
void Output::make_room_early(std::uint64_t bytes, std::size_t step_bytes) {
  impl_->make_room_early(bytes, step_bytes);
}
void Output::prepare(std::uint64_t bytes, const WriteWindows& windows) {
  impl_->prepare(bytes, windows);
}
void Output::write_at(std::uint64_t offset, ConstByteSpan bytes) {
  impl_->write_at(offset, bytes);
}
std::string Output::hidden_path() const {
  return impl_->hidden_path();
}
void Output::note_written(std::uint64_t offset, std::uint64_t bytes) {
  impl_->note_written(offset, bytes);
}
void Output::write_next(ConstByteSpan bytes) {
  impl_->write_at(impl_->next_offset, bytes);
  impl_->next_offset += bytes.size();
}
bool Output::restart() {
  std::unique_ptr<Impl> renewed = impl_->renewed();
  if (!renewed) return false;
  impl_ = std::move(renewed);
  return true;
}
void Output::cancel() noexcept {
  impl_->cancel();
}
void Output::commit(std::uint64_t size_bytes) {
  finish(size_bytes);
  commit_all(std::span(this, 1));
}
void Output::finish(std::uint64_t size_bytes) {
  impl_->finish(size_bytes);
}

void commit_all(std::span<Output> outputs, const std::function<void()>& placed_all) {
  const HeldSignals held;
  const auto sync_names = [&] {
    for (std::size_t i = 0; i < outputs.size(); ++i) {  // sync each folder only once
      const bool is_last = i + 1 == outputs.size();
      if (is_last || outputs[i].folder() != outputs[i + 1].folder()) outputs[i].impl_->sync_name();
    }
  };
  std::size_t placed = 0;
  try {
    for (; placed < outputs.size(); ++placed) outputs[placed].impl_->put_in_place();
    if (placed_all) {
      synced_or_taken_back(sync_names);
      placed_all();
    }
  } catch (...) {
    for (Output& output : outputs.first(placed)) output.impl_->take_back();
    throw;
  }
  if (!placed_all) sync_names();
}

std::vector<std::string> Output::notes() const {
  return impl_->notes();
}

}  // namespace gsort::io
