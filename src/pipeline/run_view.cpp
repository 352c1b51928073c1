#include "pipeline/run_view.hpp"

#include <utility>

namespace gsort {
namespace {

class StoredRunView : public RunView {
 public:
  explicit StoredRunView(const io::Run& run) : RunView(run.fences()), run_(run) {}

  ConstByteSpan read_block(std::size_t block, ByteSpan out, ByteSpan scratch) const override {
    return run_.read_block(block, out, scratch);
  }
  void read_range(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                  ByteSpan scratch) const override {
    run_.read_range(begin, end, out, scratch);
  }
  void read_stored(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                   std::span<StoredKeys> pieces, ByteSpan scratch) const override {
    run_.read_stored(begin, end, out, pieces, scratch);
  }

 private:
  const io::Run& run_;
};

struct OwnRun {
  io::Run own;
};

class OwnedRunView final : OwnRun, public StoredRunView {
 public:
  explicit OwnedRunView(io::Run run) : OwnRun{std::move(run)}, StoredRunView(own) {}
};

}  // namespace

std::unique_ptr<const RunView> view_of(io::Run run) {
  return std::make_unique<const OwnedRunView>(std::move(run));
}

RunViews views_of(std::span<const io::Run> runs) {
  RunViews views;
  for (const io::Run& run : runs) views.push_back(std::make_unique<const StoredRunView>(run));
  return views;
}

}  // namespace gsort
