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
    thread_ = std::jthread([this, bytes](const std::stop_token& stop) { allocate(stop, bytes); });
  } catch (const std::system_error&) {  // no more threads: writes allocate pages
  }
}

std::uint64_t EarlyRoom::finish() {
  if (thread_.joinable()) thread_.join();
  return ready_bytes_;
}

void EarlyRoom::allocate(const std::stop_token& stop, std::uint64_t bytes) {
  while (ready_bytes_ < bytes && !stop.stop_requested()) {
    const std::uint64_t step = std::min(kStepBytes, bytes - ready_bytes_);
    const auto begin = static_cast<off_t>(ready_bytes_);
    if (sys::fallocate(file_.fd(), 0, begin, static_cast<off_t>(step)) != 0) return;
    ready_bytes_ += step;
  }
}

}  // namespace gsort::io
