// Delays signals that would end the program until a few steps that belong together are done.
#pragma once

namespace gsort::io {

// While an object of this class lives, signals whose default action ends the process (INT, TERM,
// HUP, QUIT, PIPE, XCPU and the like) are only noted, in every thread; when the last object is
// destroyed, the process ends by the first such signal. Ignored signals, and signals with a handler
// of the program, are not affected. SIGKILL and faults of the program cannot be delayed. Any thread
// may use it.
//
// Does nothing unless the process is gsort's own (process.hpp): handlers belong to the program.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  const bool holds_;
};

}  // namespace gsort::io
