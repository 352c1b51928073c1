// RunView: a sorted run as a merge uses it, wherever its blocks are: the fences, which are in
// memory, and functions that read a block or a range. Only reads are virtual calls.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "io/runs/run_store.hpp"

namespace gsort {

// Thread-safe. `scratch` is as for io::Run: memory of the caller, one for each thread.
class RunView {
 public:
  // The run's index outlives the view.
  explicit RunView(const io::RunFences& fences) : fences_(fences) {}
  virtual ~RunView() = default;
  RunView(const RunView&) = delete;
  RunView& operator=(const RunView&) = delete;

  [[nodiscard]] const io::RunFences& fences() const { return fences_; }

  // As those of io::Run.
  [[nodiscard]] virtual ConstByteSpan read_block(std::size_t block, ByteSpan out,
                                                 ByteSpan scratch) const = 0;
  virtual void read_range(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                          ByteSpan scratch) const = 0;
  virtual void read_stored(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                           std::span<StoredKeys> pieces, ByteSpan scratch) const = 0;

 private:
  const io::RunFences fences_;
};

using RunViews = std::vector<std::unique_ptr<const RunView>>;
using RunViewSpan = std::span<const std::unique_ptr<const RunView>>;

// Views of runs of this process. The runs outlive them, and do not move.
[[nodiscard]] RunViews views_of(std::span<const io::Run> runs);

// A view that owns its run.
[[nodiscard]] std::unique_ptr<const RunView> view_of(io::Run run);

}  // namespace gsort
