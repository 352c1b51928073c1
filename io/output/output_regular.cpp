// A regular output. Written beside its target, under no name or a hidden one; commit() makes it the
// target:
//
//   truncate to the size    direct writes may be rounded up
//   fchown, access list,    as the file it replaces, or as open(2) would have made a new one
//   fchmod                  (output_rights.hpp); until then only the owner may read or write it
//   fsync                   the bytes and the size are on the disk
//   what was written        every byte once, at its offset
//   link, rename            linkat cannot replace a name: a hidden one first, unless it is free
//   fsync of the folder     the name is on the disk; syncfs where it may not be read
#include <algorithm>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/units.hpp"
#include "io/output/direct_writer.hpp"
#include "io/output/early_room.hpp"
#include "io/output/output_impl.hpp"
#include "io/output/output_rights.hpp"
#include "io/output/write_queue.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/linkable_file.hpp"
#include "io/system/process.hpp"
#include "io/system/space.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr std::size_t kLeastSyncedBytes = std::size_t{256} << 10;

class RegularOutput : public Output::Impl {
 public:
  RegularOutput(OutputTarget target, const OutputOptions& options);

  [[nodiscard]] bool is_stream() const override { return false; }
  [[nodiscard]] const std::string& path() const override { return target_.path; }
  [[nodiscard]] const std::string& folder() const override { return target_.folder_path(); }
  void make_room_early(std::uint64_t bytes, std::size_t step_bytes) override;
  void prepare(std::uint64_t bytes, const WriteWindows& windows) override;
  void write_at(std::uint64_t offset, ConstByteSpan bytes) override;
  [[nodiscard]] std::string hidden_path() const override {
    const std::string& name = new_file_.hidden_name();
    return name.empty() ? name : target_.path_of(name);
  }
  void note_written(std::uint64_t offset, std::uint64_t bytes) override {
    new_file_.note_written(offset, bytes);
  }
  [[nodiscard]] std::unique_ptr<Output::Impl> renewed() override {
    return std::make_unique<RegularOutput>(target_, options_);
  }
  void cancel() noexcept override {}
  void finish(std::uint64_t size_bytes) override;
  void put_in_place() override;
  void sync_name() const override;
  void take_back() noexcept override;
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  void write_directly(std::uint64_t bytes, const WriteWindows& windows);
  void write_cached(std::uint64_t offset, ConstByteSpan bytes);
  void look_at_target();

  OutputTarget target_;
  const OutputOptions options_;
  const mode_t mask_ = file_mode_mask();  // first: new_file_ may take the last free descriptor
  LinkableFile new_file_;
  OutputRights rights_;
  const std::string hidden_name_;  // that it had at first
  MemoryWatch memory_watch_;
  bool direct_refused_ = false;   // at open, or when it had finished
  bool was_direct_ = false;       // when it had finished
  std::uint64_t size_bytes_ = 0;  // when finished
  WriteQueue cached_writes_{[this](std::uint64_t offset, ConstByteSpan bytes) {
    new_file_.file().write_full_at(bytes, offset);
  }};
  // Last, as they write to new_file_:
  std::optional<DirectWriter> direct_;
  std::optional<EarlyRoom> early_room_;
};

RegularOutput::RegularOutput(OutputTarget target, const OutputOptions& options)
    : target_(std::move(target)),
      options_(options),
      new_file_(*target_.folder, target_.name, target_.path, options.is_shared),
      rights_(target_, target_.replaced, mask_),
      hidden_name_(new_file_.hidden_name()) {}

void RegularOutput::make_room_early(std::uint64_t bytes, std::size_t step_bytes) {
  const bool is_suited = !early_room_ && !options_.is_shared && options_.direct_io != DirectIo::kOn;
  if (!is_suited || bytes > most_file_bytes()) return;
  const auto facts = facts_of(new_file_.file());
  if (facts && facts->is_memory()) early_room_.emplace(new_file_.file(), bytes, step_bytes);
}

void RegularOutput::prepare(std::uint64_t bytes, const WriteWindows& windows) {
  const std::uint64_t limit = most_file_bytes();
  if (bytes > limit) {
    throw Error(ErrorKind::kResource, "making room for the output",
                format_bytes(bytes) + " needed, files may have " + format_bytes(limit))
        .path(target_.path)
        .hint("raise the limit with 'ulimit -f'");
  }
  const std::uint64_t early = early_room_ ? early_room_->expected_bytes() : 0;
  const SpaceNeed need{std::span(&folder(), 1), bytes - std::min(bytes, early), "the output"};
  require_space(std::span(&need, 1));
  const auto facts = facts_of(new_file_.file());
  if (facts) memory_watch_.set_kind(facts->memory_kind);
  const DirectIo policy = options_.is_shared ? DirectIo::kOff : options_.direct_io;
  if (wants_direct_output(policy, bytes, memory_watch_.is_memory())) {
    write_directly(bytes, windows);
  }
  if (!options_.is_shared) new_file_.file().grow_to(bytes);
}

void RegularOutput::write_directly(std::uint64_t bytes, const WriteWindows& windows) {
  File direct = new_file_.file().reopened(O_WRONLY | O_DIRECT);
  direct_refused_ = !direct.is_open();
  if (direct_refused_) return;
  // Allocates blocks for the whole file at once: then no later write lacks space, and direct writes
  // do not make the file longer, so they need not wait for each other (measured:
  // tools/bench/results/tried.md).
  new_file_.file().allocate(bytes, 0, "making room for");
  direct_.emplace(new_file_.file(), std::move(direct), windows);
}

void RegularOutput::write_at(std::uint64_t offset, ConstByteSpan bytes) {
  if (options_.content != nullptr) options_.content->add(offset, bytes);
  direct_ ? direct_->put(offset, bytes) : write_cached(offset, bytes);
}

void RegularOutput::write_cached(std::uint64_t offset, ConstByteSpan bytes) {
  if (bytes.empty()) return;
  if (early_room_ && early_room_->fill(offset, bytes)) return;
  memory_watch_.require_room_for(new_file_.file(), bytes.size());
  cached_writes_.write(offset, bytes);
  // Starts the writing now, so that commit() finds little left to wait for (measured: tried.md).
  if (!memory_watch_.is_memory() && bytes.size() >= kLeastSyncedBytes) {
    sys::sync_file_range(new_file_.file().fd(), static_cast<off_t>(offset),
                         static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
  }
}

void RegularOutput::finish(std::uint64_t size_bytes) {
  const File& file = new_file_.file();
  early_room_.reset();
  if (direct_) direct_->finish();
  file.require_written_size();
  file.truncate(size_bytes);
  if (!options_.is_private) {
    look_at_target();
    rights_.give_to(file);
  }
  file.sync();
  was_direct_ = direct_.has_value();
  direct_refused_ = direct_refused_ || (direct_ && direct_->refused());
  direct_.reset();  // with its buffers
  size_bytes_ = size_bytes;
}

// The rights of the file that is replaced may have changed since the output was opened, or another
// program may have created a file of this name.
void RegularOutput::look_at_target() {
  struct stat now = {};
  const int flags = AT_SYMLINK_NOFOLLOW;
  if (sys::stat_at(target_.fd(), target_.name.c_str(), &now, flags) != 0) return;
  const auto& before = target_.replaced;
  const bool is_same = before && now.st_ino == before->st_ino &&
                       now.st_ctim.tv_sec == before->st_ctim.tv_sec &&
                       now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
  if (is_same || !S_ISREG(now.st_mode)) return;
  target_.replaced = now;
  rights_ = OutputRights(target_, now, mask_);
}

void RegularOutput::put_in_place() {
  require_unmoved(target_);
  // The descriptor is needed to link. It is closed after the output has its name; close can then
  // report no more errors, because fsync has succeeded.
  if (options_.must_be_new) {
    new_file_.put_in_free_place(size_bytes_);
  } else {
    new_file_.put_in_place(target_.replaced.has_value(), size_bytes_);
  }
}

// From now on the name does not exist, or is that of another process's file.
void RegularOutput::take_back() noexcept {
  sys::unlink_at(target_.fd(), target_.name.c_str());
}

void RegularOutput::sync_name() const {
  try {
    target_.folder->sync_names(new_file_.file());
  } catch (const Error& error) {
    throw Error(error).hint("the new output is in place, but may not survive a power cut; " +
                            error.hint());
  }
}

std::vector<std::string> RegularOutput::notes() const {
  std::vector<std::string> notes;
  if (memory_watch_.is_memory()) {
    notes.push_back(
        fmt::format("{}: in memory ({}); the output takes memory", path(), memory_watch_.kind()));
  }
  const bool refused = direct_refused_ || (direct_ && direct_->refused());
  if ((direct_ || was_direct_) && !refused)
    notes.push_back(path() + ": written around the page cache (O_DIRECT)");
  if (refused) {
    notes.push_back(path() + ": O_DIRECT is not supported here, using the page cache");
  }
  if (!hidden_name_.empty() && !options_.is_shared) {
    notes.push_back(path() + ": the file system has no unnamed files, written as " + hidden_name_);
  }
  if (const auto mode = rights_.mode_without_list()) {
    notes.push_back(fmt::format("{}: access list not readable, so the mode of {} is {:o}", folder(),
                                path(), *mode));
  }
  if (!target_.folder->readable) {
    notes.push_back(folder() + ": not readable, so the whole file system is synced");
  }
  return notes;
}

}  // namespace

std::unique_ptr<Output::Impl> make_regular_output(OutputTarget target,
                                                  const OutputOptions& options) {
  return std::make_unique<RegularOutput>(std::move(target), options);
}

}  // namespace gsort::io
