// Names that go when a signal ends the program: hidden files and folders, which are of no use
// without it.
#pragma once

#include <string>

namespace gsort::io {

// A name that is removed if the program ends by INT, TERM or HUP while this lives, where
// remove_names_on_signals() was called. Move-only. Of more than about a thousand at once, further
// ones stay.
class RemovedOnSignal {
 public:
  enum class Kind : int { kNone, kFile, kFolder };

  RemovedOnSignal() = default;
  // `folder` is the descriptor of the folder that has the name; it outlives this.
  RemovedOnSignal(int folder, const std::string& name, Kind kind = Kind::kFile) noexcept;
  RemovedOnSignal(RemovedOnSignal&& other) noexcept;
  RemovedOnSignal& operator=(RemovedOnSignal&& other) noexcept;
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
  ~RemovedOnSignal();

 private:
  int slot_ = -1;  // none
};

// Installs the handler for these signals, except where they are ignored or have a handler already.
// For programs of gsort: the handlers of a host are its own.
void remove_names_on_signals();

// That handler: removes the names, files first, and ends the process by the signal.
extern "C" void gsort_remove_names(int signal);

}  // namespace gsort::io
