// Stages of an exchange overlap: while one of them is held at one part, all other parts are read,
// sent, merged and written. Without a clock: the stage is held until that has happened, or for ever
// if it needs the stage, which a time limit turns into a failure.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/frame.hpp"
#include "unit/cluster/invented.hpp"

namespace gsort::cluster {
namespace {

using test::InventedExchange;
using test::InventedLane;
using test::LocalNetwork;

constexpr unsigned kRanks = 3;
constexpr std::uint64_t kElements = 9000;
constexpr std::uint64_t kPartElements = 250;  // 12 parts of each rank

enum class Held { kOwnRead, kReadToSend, kFrame, kMerge, kWrite };

// Element i of a rank's run is i * kRanks + rank, so element n of the output is n.
std::uint64_t count_below(std::uint64_t value, unsigned rank) {
  return (value + kRanks - 1 - rank) / kRanks;
}

class Overlap : public testing::TestWithParam<Held>, public PieceSink {
 protected:
  // Rank 0 is held once at the stage, in the first of its parts, or of rank 1's, that comes there.
  void hold_at(Held stage, std::uint64_t part) {
    if (stage != GetParam()) return;
    std::unique_lock lock(mutex_);
    if (held_part_ || is_held_out_) return;
    held_part_ = part;
    const std::uint64_t others = kElements - parts_.elements(part);
    is_held_out_ = !changed_.wait_for(lock, kLimit, [&] { return written_ == others; });
  }

  // The link from rank 0 to rank 1 stands still until rank 2 has all of its output. A network does
  // not wait: it is asked again and again.
  bool holds_frame(unsigned from, unsigned to, const Message& message) {
    if (test::envelope_of(message).kind != MessageKind::kFrame || from != 0 || to != 1)
      return false;
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!held_part_) {
      held_part_ = Frame(message).place().part;
      held_until_ = now + kLimit;
    }
    if (written_by_2_ == parts_.end_of(2) - parts_.begin_of(2)) return false;
    is_held_out_ = is_held_out_ || now > held_until_;
    return !is_held_out_;
  }

  void put(std::uint64_t position, ConstByteSpan keys) override {
    if (position < parts_.end_of(0)) hold_at(Held::kWrite, part_at(position));
    const std::scoped_lock lock(mutex_);
    std::memcpy(&output_[position], keys.data(), keys.size());
    written_ += keys.size() / sizeof(std::uint64_t);
    if (position >= parts_.begin_of(2)) written_by_2_ += keys.size() / sizeof(std::uint64_t);
    changed_.notify_all();
  }

  void read(unsigned rank, std::uint64_t begin, std::uint64_t end, ByteSpan out) {
    const std::uint64_t part = part_at(begin * kRanks + rank);
    if (rank == 0 && part < parts_.first(1)) hold_at(Held::kOwnRead, part);
    if (rank == 0 && part >= parts_.first(1)) hold_at(Held::kReadToSend, part);
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = begin; i < end; ++i) keys.push_back(i * kRanks + rank);
    std::memcpy(out.data(), keys.data(), out.size());
  }

  void merge(std::span<const std::uint64_t> counts, std::uint64_t position, ByteSpan input,
             PieceSink& sink) {
    if (position < parts_.end_of(0)) hold_at(Held::kMerge, part_at(position));
    std::vector<std::uint64_t> keys(std::reduce(counts.begin(), counts.end()));
    std::memcpy(keys.data(), input.data(), keys.size() * sizeof(keys[0]));
    std::ranges::sort(keys);
    sink.put(position, std::as_bytes(std::span(keys)));
  }

  [[nodiscard]] std::uint64_t part_at(std::uint64_t position) const {
    const auto behind = std::ranges::upper_bound(parts_.borders(), position);
    return static_cast<std::uint64_t>(behind - parts_.borders().begin()) - 1;
  }

  static constexpr std::chrono::seconds kLimit{20};

  const PartSizes sizes_{kElements, kRanks, kPartElements, 1, 0};
  const PartTable parts_{sizes_};
  std::vector<std::uint64_t> output_ = std::vector<std::uint64_t>(kElements);
  std::mutex mutex_;  // guards what follows, and the output
  std::condition_variable changed_;
  std::uint64_t written_ = 0;  // elements
  std::uint64_t written_by_2_ = 0;
  std::optional<std::uint64_t> held_part_;
  std::chrono::steady_clock::time_point held_until_;
  bool is_held_out_ = false;  // the limit is over
};

TEST_P(Overlap, OfAHeldStageWithAllOthers) {
  InventedExchange all;
  all.sizes = sizes_;
  all.element_bytes = sizeof(std::uint64_t);
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    auto& cuts = all.cuts.emplace_back();
    for (const std::uint64_t border : parts_.borders()) cuts.push_back(count_below(border, rank));
  }
  all.run = [&](unsigned rank) {
    return [this, rank](auto begin, auto end, auto out) { read(rank, begin, end, out); };
  };
  std::vector<std::vector<std::uint64_t>> inputs(kRanks * 3);
  std::atomic<std::size_t> next_input = 0;
  all.lanes = 3;
  all.lane = [&](unsigned) {
    auto& input = inputs[next_input++];
    input.resize(kPartElements);
    return std::make_unique<InventedLane>(std::as_writable_bytes(std::span(input)),
                                          [this](auto counts, auto position, auto in, auto& sink) {
                                            merge(counts, position, in, sink);
                                          });
  };
  all.sink = this;
  LocalNetwork network(kRanks);
  network.set_most_message_bytes(300);  // so that a slice is several frames
  if (GetParam() == Held::kFrame) {
    network.set_holder([this](unsigned from, unsigned to, const Message& message) {
      return holds_frame(from, to, message);
    });
  }
  run_exchange(network, all);
  EXPECT_TRUE(held_part_.has_value());
  EXPECT_FALSE(is_held_out_) << "other parts wait for part " << held_part_.value_or(0);
  for (std::uint64_t n = 0; n < kElements; ++n) ASSERT_EQ(output_[n], n);
}

std::string name_of(const testing::TestParamInfo<Held>& stage) {
  constexpr std::array kNames = {"OwnRead", "ReadToSend", "Frame", "Merge", "Write"};
  return kNames.at(static_cast<std::size_t>(stage.param));
}

INSTANTIATE_TEST_SUITE_P(Stages, Overlap,
                         testing::Values(Held::kOwnRead, Held::kReadToSend, Held::kFrame,
                                         Held::kMerge, Held::kWrite),
                         name_of);

}  // namespace
}  // namespace gsort::cluster
