// 2^31 + 1 keys of four bytes, in one chunk and in runs: positions beyond 31 bits in every stage.
// 8 GiB in, 8 GiB out and as much for runs: skipped where disk or memory are too small.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "gen/generate.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "io/system/host_facts.hpp"
#include "pipeline/check_order.hpp"
#include "pipeline/sort_job.hpp"
#include "support/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kElements = (std::uint64_t{1} << 31) + 1;
constexpr std::uint64_t kBytes = 4 * kElements;
constexpr KeyFormat kFormat{KeyType::kU32, false, false};

// Writes the input; returns its fingerprint.
Fingerprint write_input(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  std::vector<std::byte> block(16 << 20);
  Fingerprint total;
  for (std::uint64_t at = 0; at < kElements; at += block.size() / 4) {
    const std::uint64_t count = std::min<std::uint64_t>(block.size() / 4, kElements - at);
    const std::span<std::byte> part(block.data(), 4 * count);
    generate({kFormat, Distribution::kUniform, 1, kElements}, at, part);
    total += fingerprint_of(part, 4);
    file.write(reinterpret_cast<const char*>(part.data()),
               static_cast<std::streamsize>(part.size()));
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  return total;
}

class LargeSort : public testing::TestWithParam<const char*> {};

TEST_P(LargeSort, IsRight) {
  const io::test::TempFolder folder;
  const auto facts = io::folder_facts(folder.path());
  const std::uint64_t memory = io::host_facts().available_bytes;
  const std::uint64_t budget = parse_size(GetParam(), 0, "-S");
  if (!facts || facts->is_memory() || facts->free_bytes < 4 * kBytes) {
    GTEST_SKIP() << format_bytes(4 * kBytes) << " of disk are not free in " << folder.path();
  }
  if (memory < budget + kGiB) {
    GTEST_SKIP() << format_bytes(budget) << " of memory are not free";
  }
  const Fingerprint wanted = write_input(folder / "in");
  const Options options = test::options_for(kFormat.type, GetParam());
  Machine machine = test::invented_machine(kBytes, 2, kTiB);
  machine.temporary.front().path = folder.path();
  const Plan plan = test::plan_of(options, machine);
  {
    io::Reader reader({folder / "in"}, {4});
    io::Output output(folder / "out");
    const Outcome outcome =
        run_sort({.plan = plan,
                  .reader = &reader,
                  .make_engine =
                      [](const Plan&, const EngineShape& shape, ByteSpan engine_memory) {
                        return cpu::make_cpu_engine(shape, engine_memory);
                      }},
                 {&output, 1});
    EXPECT_EQ(outcome.elements, kElements);
  }
  io::Reader result({folder / "out"}, {4});
  Job job;
  job.element.key = kFormat;
  const CheckOutcome check = check_order(job, result);
  EXPECT_TRUE(check.in_order) << "at element " << check.disorder_element;
  EXPECT_EQ(check.fingerprint, wanted);
}

INSTANTIATE_TEST_SUITE_P(Budgets, LargeSort, testing::Values("10G", "1G"),
                         [](const auto& budget) { return "In" + std::string(budget.param); });

}  // namespace
}  // namespace gsort
