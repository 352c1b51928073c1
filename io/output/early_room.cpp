#include "io/output/early_room.hpp"

#include <algorithm>
#include <system_error>

#include "base/units.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

// Allocated in one call, which cannot be interrupted.
constexpr std::uint64_t kStepBytes = 32 * kMiB;

}  // namespace

EarlyRoom::EarlyRoom(const File& file, std::uint64_t bytes) : file_(file) {
  try {
    thread_ = std::jthread([this, bytes](const std::stop_token& stop) { make_pages(stop, bytes); });
  } catch (const std::system_error&) {  // no more threads: writes allocate pages
    has_ended_ = true;
  }
}

void EarlyRoom::wait_until(std::uint64_t end) {
  std::unique_lock lock(mutex_);
  grown_.wait(lock, [&] { return ready_bytes_ >= end || has_ended_; });
}

void EarlyRoom::make_pages(const std::stop_token& stop, std::uint64_t bytes) {
  for (std::uint64_t begin = 0; begin < bytes && !stop.stop_requested();) {
    const std::uint64_t step = std::min(kStepBytes, bytes - begin);
    if (sys::fallocate(file_.fd(), 0, static_cast<off_t>(begin), static_cast<off_t>(step)) != 0) {
      break;
    }
    begin += step;
    const std::scoped_lock lock(mutex_);
    ready_bytes_ = begin;
    grown_.notify_all();
  }
  const std::scoped_lock lock(mutex_);
  has_ended_ = true;
  grown_.notify_all();
}

}  // namespace gsort::io
