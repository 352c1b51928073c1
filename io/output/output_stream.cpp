// A pipe, FIFO, device, or standard output of any kind: bytes are written in order and cannot be
// undone.
#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include <sys/sysmacros.h>

#include "base/tiling.hpp"
#include "io/output/output_impl.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/space.hpp"
#include "io/system/sys.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {
namespace {

class StreamOutput : public Output::Impl {
 public:
  StreamOutput(File file, bool is_report)
      : file_(std::move(file)),
        is_report_(is_report),
        cancelled_(std::make_exception_ptr(
            Error(ErrorKind::kOutput, "writing", "stopped before the output was complete")
                .path(file_.path())
                .hint("see the other message"))) {
    sys::enlarge_pipe(file_.fd());
    note_size();
  }

  [[nodiscard]] bool is_stream() const override { return true; }
  [[nodiscard]] bool keeps_bytes() const override { return keeps_bytes_; }
  [[nodiscard]] const std::string& path() const override { return file_.path(); }
  [[nodiscard]] const std::string& folder() const override { return no_folder_; }
  [[nodiscard]] std::string written_into() const override {
    return memory_watch_.is_memory() ? link_of(file_) : "";
  }
  void prepare(std::uint64_t, const WriteWindows&) override {}
  void write_at(std::uint64_t offset, ConstByteSpan bytes) override;
  [[nodiscard]] std::unique_ptr<Output::Impl> renewed() override;
  void cancel() noexcept override;
  void finish(std::uint64_t size_bytes) override;
  [[nodiscard]] std::vector<std::string> notes() const override { return {}; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  // The bytes of a thread that waits for its turn.
  struct Waiting {
    ConstByteSpan bytes;
    bool is_in_hand = false;  // another thread writes them
    bool is_done = false;
    std::condition_variable changed{};
  };

  void claim(std::uint64_t offset, std::size_t bytes);
  void wait_for_turn(std::uint64_t offset, ConstByteSpan bytes, Lock& lock);
  void write_from(ConstByteSpan bytes, Lock& lock);
  [[nodiscard]] bool has_written(ConstByteSpan bytes, Lock& lock);
  void write_next(ConstByteSpan bytes) const;
  void note_size();
  void require_own_size() const;
  [[nodiscard]] Waiting* take_next();
  void stop(const std::exception_ptr& why) noexcept;

  static std::string link_of(const File& file) {
    return "/proc/self/fd/" + std::to_string(file.fd());
  }
  static bool is_file_or_disk(const File& file) {
    const mode_t mode = file.facts().st_mode;
    return S_ISREG(mode) || S_ISBLK(mode);
  }
  static std::string_view memory_kind_of(const File& file) {
    if (!S_ISREG(file.facts().st_mode)) return "";
    const auto facts = file_facts(link_of(file));
    return facts ? facts->memory_kind : "";
  }

  File file_;
  const bool is_report_;
  bool is_regular_ = false;
  std::uint64_t size_before_ = 0;  // of a regular file, before the first write
  std::uint64_t begin_ = 0;        // where the output begins in a regular file
  const bool keeps_bytes_ = is_file_or_disk(file_);
  mutable MemoryWatch memory_watch_{memory_kind_of(file_)};
  const std::exception_ptr cancelled_;  // made in advance, because a lack of memory may be the
                                        // reason for cancel()
  const std::string no_folder_;
  std::mutex mutex_;
  Tiling claimed_;                             // the bytes that have been put, or wait for their
                                               // turn
  std::map<std::uint64_t, Waiting*> waiting_;  // by offset
  std::uint64_t written_ = 0;
  bool has_failed_ = false;     // a write has failed; a part may be written
  std::exception_ptr stopped_;  // the reason, with which all waiting calls fail
};

// A thread writes its bytes in its turn, and then the following bytes of waiting threads: so none
// of these must wake up before the next write.
void StreamOutput::write_at(std::uint64_t offset, ConstByteSpan bytes) {
  if (bytes.empty()) return;
  Lock lock(mutex_);
  claim(offset, bytes.size());
  if (stopped_) std::rethrow_exception(stopped_);
  if (offset == written_) {
    write_from(bytes, lock);
  } else {
    wait_for_turn(offset, bytes, lock);
  }
}

void StreamOutput::claim(std::uint64_t offset, std::size_t bytes) {
  if (claimed_.add(offset, offset + bytes)) return;
  stop(std::make_exception_ptr(misplaced(kOverlap, path(), kOfNoUse).at(offset)));
}

void StreamOutput::wait_for_turn(std::uint64_t offset, ConstByteSpan bytes, Lock& lock) {
  Waiting own{bytes};
  waiting_.emplace(offset, &own);
  own.changed.wait(lock, [&] { return own.is_done || (stopped_ && !own.is_in_hand); });
  if (own.is_done) return;
  waiting_.erase(offset);
  std::rethrow_exception(stopped_);
}

void StreamOutput::write_from(ConstByteSpan bytes, Lock& lock) {
  if (!has_written(bytes, lock)) std::rethrow_exception(stopped_);
  while (Waiting* const next = take_next()) {
    next->is_done = has_written(next->bytes, lock);
    next->is_in_hand = false;
    next->changed.notify_one();
  }
}

// Outside the lock: only the thread with the turn uses the file, and cancel() must not wait for a
// reader that does not read.
bool StreamOutput::has_written(ConstByteSpan bytes, Lock& lock) {
  lock.unlock();
  std::exception_ptr failure;
  try {
    write_next(bytes);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  if (!failure) {
    written_ += bytes.size();
  } else {
    has_failed_ = true;
    stop(failure);
  }
  return !failure;
}

void StreamOutput::note_size() {
  const struct stat facts = file_.facts();
  is_regular_ = S_ISREG(facts.st_mode);
  if (!is_regular_) return;
  size_before_ = static_cast<std::uint64_t>(facts.st_size);
  begin_ =
      sys::appends(file_.fd())
          ? size_before_
          : static_cast<std::uint64_t>(std::max<off_t>(sys::lseek(file_.fd(), 0, SEEK_CUR), 0));
}

// Throws if another program, or a message, has changed the size of the file: then the output holds
// foreign bytes, or has lost some of its own.
void StreamOutput::require_own_size() const {
  if (!is_regular_ || is_report_) return;
  const std::uint64_t own = std::max(size_before_, written_ == 0 ? 0 : begin_ + written_);
  if (file_.size() == own) return;
  throw Error(ErrorKind::kOutput, "writing", "something else has changed the size of the file")
      .path(path())
      .hint("let no other program write to it, nor messages (2>&1); -o replaces a file at once");
}

void StreamOutput::write_next(ConstByteSpan bytes) const {
  try {
    require_own_size();
    memory_watch_.require_room_for(file_, bytes.size());
    file_.write_full(bytes);
  } catch (const Error& error) {
    throw Error(error).at(written_);
  }
}

StreamOutput::Waiting* StreamOutput::take_next() {
  const auto next = waiting_.find(written_);
  if (stopped_ || next == waiting_.end()) return nullptr;
  Waiting* const taken = next->second;
  waiting_.erase(next);
  taken->is_in_hand = true;
  return taken;
}

// The first reason stays. Requires: the lock.
void StreamOutput::stop(const std::exception_ptr& why) noexcept {
  if (!stopped_) stopped_ = why;
  for (const auto& [offset, waiting] : waiting_) waiting->changed.notify_one();
}

std::unique_ptr<Output::Impl> StreamOutput::renewed() {
  const bool was_stopped = stopped_ && stopped_ != cancelled_;
  if (written_ > 0 || has_failed_ || was_stopped) return nullptr;
  return make_stream_output(std::move(file_), is_report_);
}

void StreamOutput::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  stop(cancelled_);
}

void StreamOutput::finish(std::uint64_t size_bytes) {
  if (stopped_) std::rethrow_exception(stopped_);
  if (written_ < size_bytes) throw misplaced(kMissing, path(), kOfNoUse).at(written_);
  if (written_ > size_bytes) throw misplaced(kPastEnd, path(), kOfNoUse).at(size_bytes);
  require_own_size();
  if (keeps_bytes_) file_.sync();  // exit 0 promises this for `gsort > file`, too
  file_.close();
}

}  // namespace

std::unique_ptr<Output::Impl> make_stream_output(File file, bool is_report) {
  const struct stat facts = file.facts();
  if (S_ISCHR(facts.st_mode) && facts.st_rdev == ::makedev(1, 3)) {
    return make_null_output(std::move(file));
  }
  return std::make_unique<StreamOutput>(std::move(file), is_report);
}

}  // namespace gsort::io
