#include "io/output/early_room.hpp"

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <exception>

#include <fcntl.h>
#include <sys/mman.h>

#include "base/units.hpp"
#include "io/system/memory.hpp"
#include "io/system/process.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

// Allocated in one call, which cannot be interrupted.
constexpr std::uint64_t kStepBytes = 32 * kMiB;

// Where a thread continues if a page that it fills is gone: another process has made the file
// shorter, through /proc.
thread_local sigjmp_buf* volatile without_page = nullptr;

extern "C" void leave_lost_page(int signal, siginfo_t* facts, void* /*context*/) {
  if (facts->si_code == BUS_ADRERR && without_page != nullptr) ::siglongjmp(*without_page, 1);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A program that calls the library, or another library, may have its own handler.
void handle_lost_pages() {
  struct sigaction action = {};
  ::sigaction(SIGBUS, nullptr, &action);
  if (!process_is_own() || (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) {
    return;
  }
  action.sa_sigaction = leave_lost_page;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGBUS, &action, nullptr);
}

// Returns false if a page is gone.
bool fill_pages(std::byte* to, ConstByteSpan from) {
  sigjmp_buf here;
  const bool is_gone = sigsetjmp(here, 0) != 0;
  if (!is_gone) {
    without_page = &here;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(to, from.data(), from.size());
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  without_page = nullptr;
  return !is_gone;
}

}  // namespace

EarlyRoom::EarlyRoom(const File& file, std::uint64_t bytes) : file_(file), bytes_(bytes) {
  has_ended_ = !file.grow_to(bytes);
  if (has_ended_) return;
  if (!address_space_is_limited()) {  // others would lack these addresses
    void* const mapping = sys::mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
    if (mapping != MAP_FAILED) mapping_ = static_cast<std::byte*>(mapping);
    handle_lost_pages();
  }
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { allocate(stop); });
  } catch (const std::exception&) {  // no more threads: writes allocate pages
    has_ended_ = true;
  }
}

EarlyRoom::~EarlyRoom() {
  thread_ = {};
  if (mapping_ != nullptr) sys::munmap(mapping_, bytes_);
}

std::uint64_t EarlyRoom::expected_bytes() {
  const std::scoped_lock lock(mutex_);
  return has_ended_ ? ready_bytes_ : bytes_;
}

bool EarlyRoom::fill(std::uint64_t offset, ConstByteSpan from, std::size_t step_bytes) {
  const std::uint64_t end = offset + from.size();
  if (end > bytes_ || !has_pages_up_to(end) || mapping_ == nullptr) return false;
  // A page is huge if the tmpfs was mounted so, and perhaps only once the file is large.
  const auto mapped_at_once = static_cast<std::uint64_t>(file_.facts().st_blksize);
  if (mapped_at_once / 2 > step_bytes) return false;
  file_.require_written_size();
  const std::uint64_t page = memory_page_bytes();
  for (std::uint64_t at = offset; at < end;) {
    const std::uint64_t next = std::min(round_down(at, step_bytes) + step_bytes, end);
    if (!fill_pages(mapping_ + at, from.subspan(at - offset, next - at))) {
      throw file_.became_shorter().at(at);
    }
    const std::uint64_t first = round_down(at, page);
    sys::madvise(mapping_ + first, next - first, MADV_DONTNEED);
    at = next;
  }
  file_.note_written(offset, from.size());
  return true;
}

bool EarlyRoom::has_pages_up_to(std::uint64_t end) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_bytes_ >= end || has_ended_; });
  return ready_bytes_ >= end;
}

void EarlyRoom::allocate(const std::stop_token& stop) {
  std::uint64_t ready = 0;
  while (ready < bytes_ && !stop.stop_requested()) {
    const std::uint64_t step = std::min(kStepBytes, bytes_ - ready);
    const auto begin = static_cast<off_t>(ready);
    const auto end = static_cast<off_t>(step);
    if (sys::fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, begin, end) != 0) break;
    ready += step;
    const std::scoped_lock lock(mutex_);
    ready_bytes_ = ready;
    changed_.notify_all();
  }
  const std::scoped_lock lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

}  // namespace gsort::io
