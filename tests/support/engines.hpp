// The engines under test, each with its own memory: "std", "cpu", and if there is a GPU "cuda",
// "cuda_x2" and "cuda_x4", which spread their lanes over two and four devices: the existing cards
// in turn, or one named several times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "io/system/memory.hpp"

namespace gsort::test {

inline constexpr const char* kEngineNames[] = {"std", "cpu", "cuda", "cuda_x2", "cuda_x4"};

[[nodiscard]] inline bool is_cuda_engine(std::string_view name) {
  return name.starts_with("cuda");
}

// The devices of the CUDA engine `name`. Requires: there is one.
[[nodiscard]] std::vector<int> ordinals_of(std::string_view name);

// The reason why the engine `name` cannot be tested on this machine; empty if it can. Fails the
// test if a GPU is expected (gpu_expected.hpp).
[[nodiscard]] std::string why_not(const std::string& name);

// The base of tests that run for each engine: skips engines that cannot be tested here.
class EngineTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  }
};

inline std::string engine_name(const testing::TestParamInfo<const char*>& engine) {
  return engine.param;
}

// An engine in memory of exactly the planned size, which is poisoned first.
class EngineUnderTest {
 public:
  // The memory suffices for the shape's chunk lanes, and later for `merge_lanes` lanes of parts of
  // `part_elements`.
  EngineUnderTest(const std::string& name, const EngineShape& shape, unsigned merge_lanes = 0,
                  std::uint64_t part_elements = 0);

  // The memory suffices for `lanes` lanes of such arrays.
  EngineUnderTest(const std::string& name, const EngineShape& shape, const ArrayShape& arrays,
                  unsigned lanes);

  Engine* operator->() { return engine_.get(); }

 private:
  void make_engine(const std::string& name, const EngineShape& shape);

  io::Arena memory_;
  std::unique_ptr<Engine> engine_;
};

// A shape for chunks of `elements`, in blocks of `block_bytes`.
[[nodiscard]] EngineShape shape_for(const KeyFormat& format, std::uint64_t elements,
                                    unsigned threads = 2, std::uint64_t block_bytes = 4096);

// Gives `raw` to the lane as the pipeline does: as many threads as the shape has take blocks in an
// order mixed by `seed`, and some give a block back empty. Calls begin and sort, too.
void fill_lane(ChunkLane& lane, const EngineShape& shape, ConstByteSpan raw, ConstByteSpan sample,
               std::uint64_t seed = 1, KeyForm form = KeyForm::kRaw);

// `keys` keys drawn evenly from `raw`, as the reader's sample does.
[[nodiscard]] std::vector<std::byte> even_sample(ConstByteSpan raw, std::uint64_t element_bytes,
                                                 std::size_t keys = 4096);

}  // namespace gsort::test
