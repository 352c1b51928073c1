// An output that is written into the existing file of its name, because no new file can be renamed
// to it: a mount point, another user's file in a sticky folder.
//
//   a lock        of the file, from the start
//   a copy        a regular output under its own name, beside the file or in a folder for runs
//   its name      given, and synced with all bytes, before the file is touched
//   room          for the whole size, in the file
//   its size      must still be the one before the sort
//   every byte    in order; truncate; fsync
//   the copy      is removed
//
// Until the copy is complete, the file is the old one. If writing fails, or the process is killed
// during it, the file is partial and the copy stays.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/units.hpp"
#include "io/output/output_impl.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr std::size_t kStepBytes = std::size_t{1} << 20;

// The bytes needed at `place` for the file, of which `place` has a part, and for the copy.
std::uint64_t needed_at(const FolderFacts& other, const FolderFacts& place, std::uint64_t bytes) {
  const bool has_both = other.file_system == place.file_system;
  return bytes - std::min(bytes, place.allocated_bytes) + (has_both ? bytes : 0);
}

class WrittenOutput final : public Output::Impl {
 public:
  WrittenOutput(File file, std::string resolved, OutputTarget copy, const OutputOptions& options)
      : file_(std::move(file)),
        resolved_(std::move(resolved)),
        target_(std::move(copy)),
        options_(options),
        copy_(make_regular_output(target_, options_)) {}

  [[nodiscard]] bool is_stream() const override { return false; }
  [[nodiscard]] const std::string& path() const override { return target_.path; }
  [[nodiscard]] const std::string& folder() const override { return copy_->folder(); }
  [[nodiscard]] std::string written_into() const override { return resolved_; }
  void make_room_early(std::uint64_t bytes, std::size_t step_bytes) override {
    copy_->make_room_early(bytes, step_bytes);
  }
  void prepare(std::uint64_t bytes, const WriteWindows& windows) override;
  void write_at(std::uint64_t offset, ConstByteSpan bytes) override {
    copy_->write_at(offset, bytes);
  }
  [[nodiscard]] std::unique_ptr<Output::Impl> renewed() override {
    copy_.reset();
    return std::make_unique<WrittenOutput>(std::move(file_), resolved_, target_, options_);
  }
  void cancel() noexcept override { copy_->cancel(); }
  void finish(std::uint64_t size_bytes) override {
    copy_->finish(size_bytes);
    size_bytes_ = size_bytes;
  }
  void put_in_place() override;
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  [[nodiscard]] std::string copy_path() const { return target_.path_of(target_.name); }
  [[nodiscard]] std::uint64_t replaced_bytes() const {
    return static_cast<std::uint64_t>(target_.replaced->st_size);
  }
  void require_name() const;
  void require_size(std::uint64_t bytes) const;
  void write_through(ByteSpan step) const;

  File file_;
  std::string resolved_;
  OutputTarget target_;
  OutputOptions options_;
  std::unique_ptr<Output::Impl> copy_;
  std::uint64_t size_bytes_ = 0;  // when finished
};

void WrittenOutput::prepare(std::uint64_t bytes, const WriteWindows& windows) {
  const auto place = facts_of(file_);
  const auto copy = facts_of(target_.folder->file);
  const std::uint64_t needed = place && copy ? needed_at(*copy, *place, bytes) : 0;
  if (place && needed > place->free_bytes) {
    throw Error(
        ErrorKind::kResource, "making room for the output and its copy",
        fmt::format("{} needed, {} free", format_bytes(needed), format_bytes(place->free_bytes)))
        .path(target_.path)
        .hint("free space there, or name a folder on another disk with -T");
  }
  copy_->prepare(bytes, windows);
}

// The copy has its name before the file is touched.
void WrittenOutput::put_in_place() {
  std::vector<std::byte> step(kStepBytes);
  copy_->put_in_place();
  try {
    copy_->sync_name();
    file_.allocate(size_bytes_, FALLOC_FL_KEEP_SIZE, "making room in");
    require_name();
    require_size(replaced_bytes());
  } catch (...) {
    copy_->take_back();  // the file is still the old one
    throw;
  }
  try {
    write_through(step);
  } catch (const Error& error) {
    throw Error(error).hint(
        fmt::format("{} is partial; all of the output is in {}: copy it when the fault is mended",
                    target_.path, copy_path()));
  }
  copy_->take_back();
}

void WrittenOutput::write_through(ByteSpan step) const {
  const File copy(sys::open_at(target_.fd(), target_.name.c_str(), O_RDONLY | O_NOFOLLOW),
                  copy_path(), ErrorKind::kOutput);
  if (!copy.is_open()) throw copy.error("opening", errno);
  for (std::uint64_t offset = 0; offset < size_bytes_;) {
    const ByteSpan wanted = step.first(std::min<std::uint64_t>(step.size(), size_bytes_ - offset));
    const std::size_t bytes = copy.read_full_at(wanted, offset);
    if (bytes != wanted.size()) throw copy.error("reading", EIO);
    require_size(std::max(replaced_bytes(), offset));
    file_.write_full_at(wanted, offset);
    offset += bytes;
  }
  require_size(std::max(replaced_bytes(), size_bytes_));
  if (size_bytes_ < replaced_bytes()) file_.truncate(size_bytes_);
  file_.sync();
  require_name();
}

// Throws if the name does not exist or is that of another file: the written data would be lost.
void WrittenOutput::require_name() const {
  struct stat now = {};
  const bool is_there = sys::stat_at(AT_FDCWD, resolved_.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && sys::same_inode(now, *target_.replaced)) return;
  throw Error(ErrorKind::kOutput, "writing",
              is_there ? "the file was replaced during the sort"
                       : "the file was removed or renamed during the sort")
      .path(target_.path)
      .hint("try again when no program writes to it");
}

// Throws if the size differs: bytes that another program has appended would be lost.
void WrittenOutput::require_size(std::uint64_t bytes) const {
  if (file_.size() == bytes) return;
  throw Error(ErrorKind::kOutput, "writing", "the file was changed during the sort")
      .path(target_.path)
      .hint("try again when no program writes to it");
}

std::vector<std::string> WrittenOutput::notes() const {
  std::vector<std::string> notes = copy_->notes();
  notes.push_back(
      fmt::format("{}: written into the file that was there, from a copy in {}", path(), folder()));
  return notes;
}

// Two sorts that write into the file at the same time would mix their bytes. A file system without
// locks gives another error; the file is then used without a lock.
void lock(const File& file) {
  if (sys::lock_bytes(file.fd()) == 0 || (errno != EAGAIN && errno != EACCES)) return;
  throw Error(ErrorKind::kOutput, "opening", "another program, perhaps gsort, has locked it")
      .path(file.path())
      .hint("wait until it ends, or name another output");
}

// Two outputs at the same time have copies of different names.
std::string name_of_copy(const std::string& name) {
  constexpr std::size_t kMostLetters = 240;  // of 255, with the suffix
  return fmt::format("{}.gsort-{:08x}", name.substr(0, kMostLetters),
                     static_cast<std::uint32_t>(sys::random_number()));
}

}  // namespace

// Returns the first folder with room for the copy beside the file, else the first one where
// a file can be made.
std::unique_ptr<Output::Impl> make_written_output(const OutputTarget& target,
                                                  const OutputOptions& options) {
  const std::string resolved = target.path_of(target.name);
  const auto place = file_facts(resolved);
  std::vector<std::string> folders = {target.folder_path()};
  folders.insert(folders.end(), options.folders_for_copy.begin(), options.folders_for_copy.end());
  const auto has_room = [&](const std::string& folder) {
    const auto facts = folder_facts(folder);
    if (!place || !facts || is_append_only(folder)) return false;
    const std::uint64_t bytes = options.expected_bytes;
    const bool has_file = place->file_system == facts->file_system;
    return facts->free_bytes >= (has_file ? needed_at(*facts, *place, bytes) : bytes);
  };
  std::stable_partition(folders.begin(), folders.end(), has_room);
  OutputOptions of_copy = options;
  of_copy.must_be_new = true;
  of_copy.is_private = true;  // the file may be readable only by its owner
  for (const std::string& folder : folders) {
    File file(sys::open_at(target.fd(), target.name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK),
              target.path, ErrorKind::kOutput);
    if (!file.is_open()) throw file.error("opening", errno);
    if (!sys::same_inode(file.facts(), *target.replaced)) throw file.error("opening", ESTALE);
    lock(file);
    try {
      OutputTarget copy{{target.path, folder + "/" + name_of_copy(target.name), &target},
                        target.replaced};
      return std::make_unique<WrittenOutput>(std::move(file), resolved, std::move(copy), of_copy);
    } catch (const Error&) {
      if (&folder == &folders.back()) throw;
    }
  }
  return nullptr;
}

}  // namespace gsort::io
