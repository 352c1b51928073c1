// Exchanges of invented runs: a test calculates their elements when they are read, and has the code
// that merges them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cluster/exchange.hpp"
#include "unit/cluster/local_team.hpp"

namespace gsort::cluster::test {

class InventedLane final : public MergeLane {
 public:
  using Merge = std::function<void(std::span<const std::uint64_t> counts, std::uint64_t position,
                                   ByteSpan input, PieceSink& sink)>;

  InventedLane(ByteSpan input, Merge merge) : input_(input), merge_(std::move(merge)) {}
  [[nodiscard]] ByteSpan input() override { return input_; }
  void merge(std::span<const std::uint64_t> counts, std::uint64_t position, KeyForm /*form*/,
             PieceSink& sink) override {
    merge_(counts, position, input_, sink);
  }

 private:
  const ByteSpan input_;
  const Merge merge_;
};

// Puts elements [begin, end) of a run into `out`.
using InventedRun = std::function<void(std::uint64_t begin, std::uint64_t end, ByteSpan out)>;

// Each rank has one run; cuts[rank] has, for each border, the elements of that run before it.
struct InventedExchange {
  PartSizes sizes;
  std::uint64_t element_bytes = 0;
  std::vector<std::vector<std::uint64_t>> cuts;
  std::function<InventedRun(unsigned rank)> run;
  std::function<std::unique_ptr<MergeLane>(unsigned rank)> lane;
  unsigned lanes = 1;
  unsigned loaders = 2;
  PieceSink* sink = nullptr;
};

// Returns the cost of each rank.
inline std::vector<Statistics> run_exchange(LocalNetwork& network, const InventedExchange& all) {
  std::vector<Statistics> costs(network.count());
  run_job(network, [&](Team& team) {
    const unsigned rank = team.rank();
    static constexpr io::BlockEntry kBlock{};
    const RunsToExchange runs{
        {io::RunFences(std::span(&kBlock, 1), all.cuts[rank].back())},
        [read = all.run(rank)](std::size_t /*run*/, auto begin, auto end, ByteSpan out,
                               ByteSpan /*scratch*/) { read(begin, end, out); }};
    std::vector<Cuts> cuts;
    for (const std::uint64_t cut : all.cuts[rank]) cuts.push_back({cut});
    std::vector<std::unique_ptr<MergeLane>> lanes;
    for (unsigned lane = 0; lane < all.lanes; ++lane) lanes.push_back(all.lane(rank));
    const std::uint64_t scratch_bytes = exchange_scratch_bytes(0, all.element_bytes);
    std::vector<std::vector<std::byte>> scratch(all.loaders);
    const PartTable parts(all.sizes);
    ExchangeContext context{runs, parts, cuts, all.element_bytes, true, lanes, {}};
    for (auto& some : scratch) {
      some.resize(scratch_bytes);
      context.scratch.emplace_back(some);
    }
    exchange(team, context, *all.sink, costs[rank]);
  });
  return costs;
}

}  // namespace gsort::cluster::test
