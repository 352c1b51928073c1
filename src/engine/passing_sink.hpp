// PassingSink: the base of sinks that change or check pieces and pass them on.
#pragma once

#include "engine/engine.hpp"

namespace gsort {

// Passes on every call that is not about pieces: all later sinks must know when an engine's threads
// begin, end or fail. Blocks, and pieces in two steps, would bypass put(), so a sink that accepts
// them overrides their functions.
class PassingSink : public PieceSink {
 public:
  void abandon() noexcept override { next_.abandon(); }
  void enter() noexcept override { next_.enter(); }
  void leave() noexcept override { next_.leave(); }

 protected:
  // `next` outlives it.
  explicit PassingSink(PieceSink& next) : next_(next) {}

  PieceSink& next_;
};

}  // namespace gsort
