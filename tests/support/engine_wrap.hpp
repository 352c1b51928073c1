// Engines that do something on the side: every piece goes through a hook, and a hook is called
// before the merge phase. For engines that lie, and for disks that forget.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

struct EngineHooks {
  // Changes a piece of sorted keys before it is put, or takes it away (empties it). `merging` says
  // which half of the engine made it. Called by one thread at a time.
  std::function<void(bool merging, std::uint64_t position, Bytes& piece)> on_piece;
  // Changes the payloads of keys in stored form, on their way from the engine to a run, or in a
  // part, before the engine unpacks them. Without it keys go plain. Called by one thread at a time.
  std::function<void(bool merging, std::span<std::byte> payloads)> on_stored;
  // Called before merge lanes are made.
  std::function<void()> before_merge;
};

[[nodiscard]] std::unique_ptr<Engine> wrap_engine(std::unique_ptr<Engine> engine,
                                                  EngineHooks hooks);

}  // namespace gsort::test
