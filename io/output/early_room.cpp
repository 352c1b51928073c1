#include "io/output/early_room.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>

#include "base/units.hpp"
#include "io/system/memory.hpp"
#include "io/system/process.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers lack

// Allocated in one call, which cannot be interrupted.
constexpr std::uint64_t kStepBytes = 32 * kMiB;

// Memory is cleared at 5 GB/s on one thread, at 8.5 on two (Intel, 16 cores).
constexpr unsigned kThreads = 2;

// The most processor time of a step of huge pages: at 1 GB/s.
constexpr std::chrono::milliseconds kMostStepTime(32);

std::chrono::nanoseconds thread_time() {
  struct timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

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

EarlyRoom::EarlyRoom(const File& file, std::uint64_t bytes, std::size_t step_bytes)
    : file_(file), bytes_(bytes), step_bytes_(step_bytes) {
  has_ended_ = !file.grow_to(bytes);
  if (has_ended_) return;
  if (!address_space_is_limited()) {  // others would lack these addresses
    map();
    handle_lost_pages();
  }
  is_huge_ = mapping_ != nullptr && kHugePageBytes / 2 <= step_bytes_;
  try {
    is_ready_.resize(div_up(bytes, kStepBytes));
    threads_.reserve(kThreads);
    for (unsigned thread = 0; thread < (is_huge_ ? kThreads : 1); ++thread) {
      threads_.emplace_back([this, thread] { allocate(thread); });
    }
  } catch (const std::exception&) {  // no more threads: others, or writes, allocate pages
    if (threads_.empty()) end();
  }
}

EarlyRoom::~EarlyRoom() {
  end();
  threads_.clear();
  if (addresses_ != nullptr) sys::munmap(addresses_, bytes_ + kHugePageBytes);
}

void EarlyRoom::map() {
  constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const addresses = sys::mmap(bytes_ + kHugePageBytes, PROT_NONE, kReserved, -1, 0);
  if (addresses == MAP_FAILED) return;
  addresses_ = addresses;
  auto* const low = static_cast<std::byte*>(addresses);
  const auto address = reinterpret_cast<std::uintptr_t>(low);
  std::byte* const begin = low + (round_up(address, kHugePageBytes) - address);
  void* const mapping =
      sys::mmap_over(begin, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (mapping != MAP_FAILED) mapping_ = begin;
}

std::uint64_t EarlyRoom::expected_bytes() {
  const std::scoped_lock lock(mutex_);
  return has_ended_ ? ready_bytes_ : bytes_;
}

bool EarlyRoom::fill(std::uint64_t offset, ConstByteSpan from) {
  const std::uint64_t end = offset + from.size();
  if (end > bytes_ || !has_pages_up_to(end) || mapping_ == nullptr) return false;
  // A page is huge if the tmpfs was mounted so, and perhaps only once the file is large.
  const auto mapped_at_once = static_cast<std::uint64_t>(file_.facts().st_blksize);
  if (mapped_at_once / 2 > step_bytes_) return false;
  file_.require_written_size();
  const std::uint64_t page = memory_page_bytes();
  for (std::uint64_t at = offset; at < end;) {
    const std::uint64_t next = std::min(round_down(at, step_bytes_) + step_bytes_, end);
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

void EarlyRoom::allocate(unsigned thread) {
  while (const auto begin = next_step(thread)) {
    const std::uint64_t bytes = std::min(kStepBytes, bytes_ - *begin);
    if (is_huge_ && !make_huge(*begin, bytes)) is_huge_ = false;
    if (!makes_pages(*begin, bytes)) return end();
    const std::scoped_lock lock(mutex_);
    is_ready_[*begin / kStepBytes] = true;
    while (ready_bytes_ < bytes_ && is_ready_[ready_bytes_ / kStepBytes]) {
      ready_bytes_ = std::min(ready_bytes_ + kStepBytes, bytes_);
    }
    changed_.notify_all();
  }
}

// Small pages are allocated by one thread: several would take longer.
std::optional<std::uint64_t> EarlyRoom::next_step(unsigned thread) {
  const std::scoped_lock lock(mutex_);
  if (has_ended_ || begun_bytes_ >= bytes_ || (thread > 0 && !is_huge_)) return std::nullopt;
  return std::exchange(begun_bytes_, begun_bytes_ + kStepBytes);
}

void EarlyRoom::end() {
  const std::scoped_lock lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

bool EarlyRoom::makes_pages(std::uint64_t begin, std::uint64_t bytes) const {
  return sys::fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                        static_cast<off_t>(bytes)) == 0;
}

// A huge page replaces small ones, of which there must be one. The call maps it, too. Returns
// whether the next step may try it again.
bool EarlyRoom::make_huge(std::uint64_t begin, std::uint64_t bytes) const {
  const auto start = thread_time();
  for (std::uint64_t at = begin; at + kHugePageBytes <= begin + bytes; at += kHugePageBytes) {
    if (!makes_pages(at, 1)) return false;
    const bool is_made = sys::madvise(mapping_ + at, kHugePageBytes, kCollapse) == 0;
    sys::madvise(mapping_ + at, kHugePageBytes, MADV_DONTNEED);
    if (!is_made || thread_time() - start > kMostStepTime) return false;
  }
  return true;
}

}  // namespace gsort::io
