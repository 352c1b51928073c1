#include "io/system/status_signal.hpp"

#include <atomic>
#include <csignal>

namespace gsort::io {
namespace {

std::atomic<bool> is_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "or a signal handler may not touch it");

extern "C" void note_status_request(int /*signal*/) {
  is_requested.store(true, std::memory_order_relaxed);
}

}  // namespace

void hear_status_signal() {
  struct sigaction action = {};
  action.sa_handler = note_status_request;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGUSR1, &action, nullptr);  // cannot fail for an existing signal
}

bool take_status_request() {
  return is_requested.exchange(false, std::memory_order_relaxed);
}

}  // namespace gsort::io
