// PassingSink: the base of sinks that change or check pieces and pass them on.
#pragma once

#include "engine/engine.hpp"

namespace gsort {

// Passes on every call that is not about pieces: an engine's threads need an answer to them from
// all sinks behind this one. Blocks, and pieces in two steps, would bypass put(): a sink that can
// take them so says it itself.
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
