#include "io/held_signals.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

#include <unistd.h>

namespace gsort::io {
namespace {

constexpr std::array kSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGPIPE, SIGALRM,
                              SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};

std::mutex mutex;
int holders = 0;
std::array<bool, kSignals.size()> is_held{};

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "or a signal handler may not touch it");

extern "C" void note_signal(int signal) {
  int none = 0;
  noted.compare_exchange_strong(none, signal, std::memory_order_relaxed);
}

// None of these calls fails for signals that there are.
void hold() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction before = {};
    ::sigaction(kSignals[i], nullptr, &before);
    is_held[i] = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL;
    if (!is_held[i]) continue;
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

void let_go() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (is_held[i]) std::signal(kSignals[i], SIG_DFL);
  }
  const int signal = noted.exchange(0, std::memory_order_relaxed);
  if (signal != 0) ::kill(::getpid(), signal);  // this thread may have it blocked
}

}  // namespace

HeldSignals::HeldSignals() {
  const std::lock_guard lock(mutex);
  if (holders++ == 0) hold();
}

HeldSignals::~HeldSignals() {
  const std::lock_guard lock(mutex);
  if (--holders == 0) let_go();
}

}  // namespace gsort::io
