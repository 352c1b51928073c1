// A pipe, FIFO, device, or whatever standard output is: bytes go out in order and stay out.
#include <cerrno>
#include <exception>
#include <utility>

#include "base/tiling.hpp"
#include "io/output/output_impl.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr int kPipeBytes = 1 << 20;

class StreamOutput : public Output::Impl {
 public:
  explicit StreamOutput(File file)
      : file_(std::move(file)),
        cancelled_(std::make_exception_ptr(
            Error(ErrorKind::kOutput, "writing", "stopped before the output was complete")
                .path(file_.path())
                .hint("see the other message"))) {
    sys::set_pipe_bytes(file_.fd(), kPipeBytes);  // refused for what is no pipe
  }

  [[nodiscard]] bool is_stream() const override { return true; }
  [[nodiscard]] const std::string& path() const override { return file_.path(); }
  [[nodiscard]] const std::string& folder() const override { return no_folder_; }
  void prepare(std::uint64_t, const WriteWindows&) override {}
  void write_at(std::uint64_t offset, ConstByteSpan bytes) override;
  [[nodiscard]] std::unique_ptr<Output::Impl> renewed() override;
  void cancel() noexcept override;
  void commit(std::uint64_t size_bytes) override;
  [[nodiscard]] std::vector<std::string> notes() const override { return {}; }

 private:
  void wait_for_turn(std::uint64_t offset, std::size_t bytes);
  void stop(const std::exception_ptr& why) noexcept;
  [[nodiscard]] Error misplaced(const char* reason, std::uint64_t offset) const;

  File file_;
  const std::exception_ptr cancelled_;  // made in advance: cancel() may come for lack of memory
  const std::string no_folder_;
  std::mutex mutex_;
  std::condition_variable turn_;
  Tiling claimed_;  // what has been put, or waits for its turn
  std::uint64_t written_ = 0;
  std::exception_ptr stopped_;  // why; all who wait fail for the same reason
};

// Writes outside the lock: whose turn it is has the file for itself, and cancel() must not wait for
// a reader that does not read.
void StreamOutput::write_at(std::uint64_t offset, ConstByteSpan bytes) {
  if (bytes.empty()) return;
  try {
    wait_for_turn(offset, bytes.size());
    file_.write_full(bytes);
  } catch (const Error& error) {
    stop(std::make_exception_ptr(Error(error).at(offset)));
    std::rethrow_exception(stopped_);  // the first reason, set once
  }
  {
    const std::lock_guard lock(mutex_);
    written_ += bytes.size();
  }
  turn_.notify_all();
}

void StreamOutput::wait_for_turn(std::uint64_t offset, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  if (!claimed_.add(offset, offset + bytes)) {
    throw misplaced("data overlaps earlier data here", offset);
  }
  turn_.wait(lock, [&] { return written_ == offset || stopped_; });
  if (stopped_) std::rethrow_exception(stopped_);
}

void StreamOutput::stop(const std::exception_ptr& why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) stopped_ = why;
  }
  turn_.notify_all();
}

// A write that failed may have written some.
std::unique_ptr<Output::Impl> StreamOutput::renewed() {
  const bool has_failed = stopped_ && stopped_ != cancelled_;
  if (written_ > 0 || has_failed) return nullptr;
  return make_stream_output(std::move(file_));
}

void StreamOutput::cancel() noexcept {
  stop(cancelled_);
}

Error StreamOutput::misplaced(const char* reason, std::uint64_t offset) const {
  return Error(ErrorKind::kCorrupt, "verifying what was written to", reason)
      .path(file_.path())
      .at(offset)
      .hint("this is a bug in gsort, please report it; do not use the output");
}

void StreamOutput::commit(std::uint64_t size_bytes) {
  if (stopped_) std::rethrow_exception(stopped_);
  if (written_ < size_bytes) throw misplaced("data is missing here", written_);
  if (written_ > size_bytes) throw misplaced("data was written past the end", size_bytes);
  const struct stat facts = file_.facts();
  // `gsort > file`: what exit 0 promises holds here, too.
  if (S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode)) file_.sync();
  file_.close();
}

}  // namespace

std::unique_ptr<Output::Impl> make_stream_output(File file) {
  return std::make_unique<StreamOutput>(std::move(file));
}

}  // namespace gsort::io
