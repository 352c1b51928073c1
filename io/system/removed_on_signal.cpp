#include "io/system/removed_on_signal.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace gsort::io {
namespace {

using Kind = RemovedOnSignal::Kind;

constexpr std::size_t kNameBytes = 256;  // no file system has longer names

// The handler reads what was written before `kind` was set.
struct Slot {
  std::atomic<Kind> kind{Kind::kNone};
  int folder = -1;
  std::array<char, kNameBytes> name{};
};
static_assert(std::atomic<Kind>::is_always_lock_free, "or a signal handler may not read it");

std::mutex mutex;  // of those who take a slot
std::array<Slot, 1024> slots;

}  // namespace

RemovedOnSignal::RemovedOnSignal(int folder, const std::string& name, Kind kind) noexcept {
  if (name.size() >= kNameBytes) return;
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (slot.kind.load(std::memory_order_relaxed) != Kind::kNone) continue;
    slot.folder = folder;
    slot.name.fill('\0');
    name.copy(slot.name.data(), name.size());
    slot.kind.store(kind, std::memory_order_release);
    slot_ = static_cast<int>(i);
    return;
  }
}

RemovedOnSignal::RemovedOnSignal(RemovedOnSignal&& other) noexcept
    : slot_(std::exchange(other.slot_, -1)) {}

RemovedOnSignal& RemovedOnSignal::operator=(RemovedOnSignal&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

RemovedOnSignal::~RemovedOnSignal() {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].kind.store(Kind::kNone);
}

extern "C" void gsort_remove_names(int signal) {
  for (const Kind kind : {Kind::kFile, Kind::kFolder}) {
    for (const Slot& slot : slots) {
      if (slot.kind.load(std::memory_order_acquire) != kind) continue;
      ::unlinkat(slot.folder, slot.name.data(), kind == Kind::kFolder ? AT_REMOVEDIR : 0);
    }
  }
  std::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
}

void remove_names_on_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = gsort_remove_names;
    action.sa_flags = SA_RESTART | SA_NODEFER;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace gsort::io
