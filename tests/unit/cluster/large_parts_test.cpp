// Parts, slices and places of more than 2^32 elements and bytes. No such data is made: runs are
// calculated where they are read, and of the memory of a lane few pages are touched.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/units.hpp"
#include "cluster/cuts/cuts.hpp"
#include "cluster/exchange_plan.hpp"
#include "cluster/frame.hpp"
#include "cluster/output/shared_output.hpp"
#include "unit/cluster/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::InventedExchange;
using test::InventedLane;
using test::LocalNetwork;

constexpr std::uint64_t kMany = (std::uint64_t{1} << 32) + 7;
constexpr std::uint64_t kFew = 1000;

std::uint32_t element_at(unsigned rank, std::uint64_t place) {
  return static_cast<std::uint32_t>((place * 2 + rank) * 2654435761U >> 5U);
}

// Memory that is there when it is touched.
class Untouched {
 public:
  explicit Untouched(std::uint64_t bytes)
      : bytes_(bytes),
        memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Untouched() {
    if (is_there()) ::munmap(memory_, bytes_);
  }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  [[nodiscard]] bool is_there() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] ByteSpan bytes() const { return {static_cast<std::byte*>(memory_), bytes_}; }

 private:
  const std::uint64_t bytes_;
  void* const memory_;
};

class NoSink final : public PieceSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override {}
};

// Each rank keeps kMany elements, and gets kFew of the other one, behind them or in front of them.
TEST(LargeParts, AreExchanged) {
  InventedExchange all;
  all.sizes = {2 * (kMany + kFew), 2, kMany + kFew, 1, 0};
  all.element_bytes = sizeof(std::uint32_t);
  all.cuts = {{0, kMany, kMany + kFew}, {0, kFew, kFew + kMany}};
  const std::uint64_t lane_bytes = (kMany + kFew) * sizeof(std::uint32_t);
  const Untouched first(lane_bytes);
  const Untouched second(lane_bytes);
  if (!first.is_there() || !second.is_there()) GTEST_SKIP() << "no 34 GB of address space here";
  all.run = [](unsigned rank) {
    return [rank](std::uint64_t begin, std::uint64_t end, ByteSpan out) {
      EXPECT_EQ(out.size(), (end - begin) * sizeof(std::uint32_t));
      for (std::uint64_t at = begin; at < end; ++at) {
        if (at == begin + kFew && end - begin > 2 * kFew) at = end - kFew;  // the ends are enough
        const std::uint32_t element = element_at(rank, at);
        std::memcpy(out.data() + (at - begin) * sizeof element, &element, sizeof element);
      }
    };
  };
  const auto expect_slice = [](ConstByteSpan input, std::uint64_t from, std::uint64_t count,
                               unsigned rank, std::uint64_t place) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint32_t element = 0;
      std::memcpy(&element, input.data() + (from + i) * sizeof element, sizeof element);
      ASSERT_EQ(element, element_at(rank, place + i)) << i << " of rank " << rank;
    }
  };
  all.lane = [&](unsigned rank) {
    const auto merge = [&, rank](std::span<const std::uint64_t> counts, std::uint64_t position,
                                 ByteSpan input, PieceSink&) {
      ASSERT_EQ(counts.size(), 2);
      EXPECT_EQ(position, rank * (kMany + kFew));
      EXPECT_EQ(counts[rank], kMany);
      EXPECT_EQ(counts[1 - rank], kFew);
      if (rank == 0) {
        expect_slice(input, kMany - kFew, kFew, 0, kMany - kFew);
        expect_slice(input, kMany, kFew, 1, 0);
      } else {
        expect_slice(input, 0, kFew, 0, kMany);
        expect_slice(input, kMany, kFew, 1, kMany);
      }
    };
    return std::make_unique<InventedLane>((rank == 0 ? first : second).bytes(), merge);
  };
  NoSink sink;
  all.sink = &sink;
  LocalNetwork network(2);
  for (const Statistics& cost : run_exchange(network, all)) {
    EXPECT_EQ(cost.own_bytes, kMany * sizeof(std::uint32_t));
    EXPECT_EQ(cost.sent_bytes, kFew * sizeof(std::uint32_t));
  }
}

TEST(LargeParts, HaveFramesWithFarPlaces) {
  const std::vector<std::uint64_t> keys(kFew, 3);
  const FramePlace place{kMany << 8, kMany << 4, kMany, kFew};
  const Message message = make_frame(place, std::as_bytes(std::span(keys)), 8, true);
  const Frame frame(message);
  EXPECT_EQ(frame.place(), place);
  std::vector<std::uint64_t> unpacked(kFew);
  frame.unpack(8, std::as_writable_bytes(std::span(unpacked)));
  EXPECT_EQ(unpacked, keys);
}

TEST(LargeParts, AreInTheTable) {
  for (const std::uint64_t elements : {kMany, 25 * kMany + 11, std::uint64_t{12'500'000'000'013}}) {
    for (const unsigned ranks : {1U, 3U, 8U, 1024U}) {
      const PartTable table({elements, ranks, kMany - 1, 1, 0});
      std::uint64_t behind = 0;
      for (unsigned rank = 0; rank < ranks; ++rank) {
        __extension__ using Wide = unsigned __int128;
        EXPECT_EQ(table.begin_of(rank), static_cast<std::uint64_t>(Wide{elements} * rank / ranks));
        EXPECT_EQ(table.begin_of(rank), behind);
        for (std::uint64_t part = 0; part < table.parts(rank); ++part) {
          EXPECT_LE(table.elements(table.first(rank) + part), kMany - 1);
          behind += table.elements(table.first(rank) + part);
        }
      }
      EXPECT_EQ(behind, elements);
      const PartTable aligned(aligned_in_file({elements, ranks, kMany, 1, 0}, {8, 128, false}));
      EXPECT_EQ(aligned.borders().back(), elements);
      EXPECT_TRUE(std::ranges::is_sorted(aligned.borders()));
      for (unsigned rank = 1; rank < ranks && elements / ranks > kMany; ++rank) {
        EXPECT_EQ((aligned.begin_of(rank) * 8 + 128) % (4 * kMiB), 0);
      }
    }
  }
}

TEST(LargeParts, ArePlanned) {
  ExchangeQuestion q;
  q.element.bytes = 8;
  q.host_bytes = kTiB;
  q.threads = 16;
  q.ranks = 8;
  q.elements = 12'500'000'000'000;
  q.runs_here = 1000;
  q.runs = 8000;
  q.block_bytes = 64 * kKiB;
  const ExchangePlan plan = plan_exchange(q).value();
  EXPECT_EQ(plan.part_elements, 8000 * kMiB / 8);  // 1 MiB of each run
  EXPECT_GE(plan.arena_bytes, plan.lanes * 8000 * kMiB);
  EXPECT_GE(exchange_bytes(q, plan), plan.arena_bytes + plan.lanes * 8000 * kMiB);
  EXPECT_LE(exchange_bytes(q, plan), q.host_bytes);
}

// Runs whose elements are calculated: of all runs of all ranks, in turn, each has the next number,
// or all have the same.
class LargeRuns final : public RunCounts {
 public:
  LargeRuns(unsigned rank, unsigned ranks, bool is_equal)
      : first_(rank * kRuns), all_(ranks * kRuns), is_equal_(is_equal) {}
  static constexpr std::size_t kRuns = 2;
  static constexpr std::uint64_t kElements = 3 * kMany;

  [[nodiscard]] std::size_t runs() const override { return kRuns; }
  [[nodiscard]] std::uint64_t elements(std::size_t /*run*/) const override { return kElements; }
  [[nodiscard]] unsigned slots() const override { return 2; }
  [[nodiscard]] std::size_t words() const override { return 1; }
  [[nodiscard]] std::uint64_t greatest() const override { return ~std::uint64_t{0}; }
  [[nodiscard]] Bounds bounds(std::size_t run, std::uint64_t value) const override {
    const std::uint64_t count = up_to(run, value);
    return {count - std::min(count, kBlock), std::min(count + kBlock, kElements)};
  }
  [[nodiscard]] std::uint64_t expected(std::size_t run, std::uint64_t value) const override {
    return up_to(run, value);
  }
  [[nodiscard]] std::uint64_t count(unsigned /*slot*/, std::size_t run, std::size_t /*word*/,
                                    std::uint64_t value, std::uint64_t low,
                                    std::uint64_t high) override {
    return std::clamp(up_to(run, value), low, high);
  }
  [[nodiscard]] std::uint64_t value_at(unsigned /*slot*/, std::size_t run, std::size_t /*word*/,
                                       std::uint64_t position) override {
    return is_equal_ ? kEqual : position * all_ + first_ + run;
  }
  // Elements of a run that are among the first ones of all.
  [[nodiscard]] std::uint64_t before(std::size_t run, std::uint64_t position) const {
    if (is_equal_) {
      const std::uint64_t others = (first_ + run) * kElements;
      return std::min(position - std::min(position, others), kElements);
    }
    return position == 0 ? 0 : up_to(run, position - 1);
  }

 private:
  static constexpr std::uint64_t kBlock = 8192;
  static constexpr std::uint64_t kEqual = kMany * 5;

  [[nodiscard]] std::uint64_t up_to(std::size_t run, std::uint64_t value) const {
    if (is_equal_) return value < kEqual ? 0 : kElements;
    const std::uint64_t first = first_ + run;
    return value < first ? 0 : std::min((value - first) / all_ + 1, kElements);
  }

  const std::uint64_t first_;
  const std::uint64_t all_;
  const bool is_equal_;
};

TEST(LargeParts, AreCutExactly) {
  constexpr unsigned kRanks = 3;
  constexpr std::uint64_t kAll = kRanks * LargeRuns::kRuns * LargeRuns::kElements;
  const std::vector<std::uint64_t> positions = {0,        1,        kMany - 8, kMany, 7 * kMany + 1,
                                                kAll / 2, kAll - 1, kAll};
  for (const bool is_equal : {false, true}) {
    LocalNetwork network(kRanks);
    test::run_job(network, [&](Team& team) {
      LargeRuns runs(team.rank(), kRanks, is_equal);
      const std::vector<Cuts> cuts = find_cuts(team, runs, kAll, positions, 1);
      for (std::size_t i = 0; i < positions.size(); ++i) {
        for (std::size_t run = 0; run < LargeRuns::kRuns; ++run) {
          EXPECT_EQ(cuts[i][run], runs.before(run, positions[i])) << positions[i];
        }
      }
    });
  }
}

// The file has holes.
TEST(LargeParts, AreWrittenAtFarPlaces) {
  const io::test::TempFolder folder;
  const std::string path = folder / "out";
  constexpr std::uint64_t kHeader = 128;
  const std::uint64_t key = 0x0123456789abcdef;
  LocalNetwork network(2);
  test::run_job(network, [&](Team& team) {
    std::function<void()> on_leave;
    Meter meter;
    SharedOutput output(team, path, on_leave, meter);
    Plan plan;
    plan.job.element.key.type = KeyType::kU64;
    if (team.rank() == 1) {
      output.begin(plan, 2 * kMany, std::vector<std::byte>(kHeader), {});
      output.put(kMany, std::as_bytes(std::span(&key, 1)));
      const auto hidden = std::filesystem::directory_iterator(folder.path())->path();
      std::ifstream file(hidden, std::ios::binary);
      file.seekg(static_cast<std::streamoff>(kHeader + kMany * sizeof key));
      std::uint64_t found = 0;
      file.read(reinterpret_cast<char*>(&found), sizeof found);
      EXPECT_EQ(found, key);
    }
    team.meet();
  });
}

}  // namespace
}  // namespace gsort::cluster
