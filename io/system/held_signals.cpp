#include "io/system/held_signals.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

#include <unistd.h>

#include "io/system/process.hpp"
#include "io/system/temporary_file.hpp"

namespace gsort::io {
namespace {

constexpr std::array kSignals{SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGPIPE, SIGALRM, SIGUSR1,
                              SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR,  SIGSTKFLT};

std::mutex mutex;
int holders = 0;
std::array<bool, NSIG> is_held{};
std::array<struct sigaction, NSIG> before_held{};

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "or a signal handler may not touch it");

extern "C" void note_signal(int signal) {
  int none = 0;
  noted.compare_exchange_strong(none, signal, std::memory_order_relaxed);
}

// Real-time signals end a process, too, unless it handles or ignores them.
template <class F>
void for_each_signal(const F& f) {
  for (const int signal : kSignals) f(signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) f(signal);
}

// None of these calls can fail for existing signals.
void hold() {
  for_each_signal([](int signal) {
    struct sigaction& before = before_held[static_cast<std::size_t>(signal)];
    ::sigaction(signal, nullptr, &before);
    bool& held = is_held[static_cast<std::size_t>(signal)];
    held = (before.sa_flags & SA_SIGINFO) == 0 &&
           (before.sa_handler == SIG_DFL || before.sa_handler == remove_names_of_gsort);
    if (!held) return;
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  });
}

void let_go() {
  for_each_signal([](int signal) {
    const auto number = static_cast<std::size_t>(signal);
    if (!is_held[number]) return;
    struct sigaction there = {};  // a library may have installed its own
    ::sigaction(signal, nullptr, &there);
    if (there.sa_handler == note_signal) ::sigaction(signal, &before_held[number], nullptr);
  });
  const int signal = noted.exchange(0, std::memory_order_relaxed);
  if (signal == 0) return;
  if (before_held[static_cast<std::size_t>(signal)].sa_handler == remove_names_of_gsort) {
    remove_names_of_gsort(signal);
  }
  ::kill(::getpid(), signal);  // this thread may have it blocked
}

}  // namespace

HeldSignals::HeldSignals() : holds_(process_is_own()) {
  if (!holds_) return;
  const std::lock_guard lock(mutex);
  if (holders++ == 0) hold();
}

HeldSignals::~HeldSignals() {
  if (!holds_) return;
  const std::lock_guard lock(mutex);
  if (--holders == 0) let_go();
}

}  // namespace gsort::io
