// Signals that would end the program wait while a few steps are taken that belong together.
#pragma once

namespace gsort::io {

// As long as one of these lives, signals whose default action ends the process (INT, TERM, HUP,
// QUIT, PIPE, XCPU and their like) are noted, whatever thread they come to; when the last one goes,
// the process ends by the first of them. Signals that are ignored, or that the program has handlers
// for, stay so. SIGKILL and faults of the program cannot wait. For threads alike.
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
