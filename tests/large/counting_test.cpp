// Elements of one byte beyond 2^31 and 2^32, through the counting path: positions and counts that
// do not fit 32 bits. The input is a sparse file with a few keys set, so it takes no disk space;
// the output is looked at block by block.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "io/system/host_facts.hpp"
#include "pipeline/sort_job.hpp"
#include "support/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using Counts = std::array<std::uint64_t, 256>;

// A file of zeros but for one key at each of a few places.
Counts write_sparse(const std::string& path, std::uint64_t bytes) {
  Counts counts{};
  counts[0] = bytes;
  std::ofstream file(path, std::ios::binary);
  std::uint64_t place = 0;
  for (unsigned key = 1; key < 256; ++key) {
    place = (place + 0x9e3779b97f4a7c15ULL) % bytes;
    file.seekp(static_cast<std::streamoff>(place));
    file.put(static_cast<char>(key));
    ++counts[key];
    --counts[0];
  }
  file.seekp(static_cast<std::streamoff>(bytes - 1));
  file.put(static_cast<char>(255));
  ++counts[255];
  --counts[0];
  file.flush();
  std::filesystem::resize_file(path, bytes);
  return counts;
}

// Whether the file is counts[0] times 0, then counts[1] times 1, and so on.
void expect_sorted_as(const std::string& path, const Counts& counts) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(8 << 20);
  std::uint64_t key = 0;
  std::uint64_t left = counts[0];
  std::uint64_t position = 0;
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount();) {
      while (left == 0 && key < 255) left = counts[++key];
      const auto here = static_cast<std::streamsize>(
          std::min<std::uint64_t>(left, static_cast<std::uint64_t>(file.gcount() - i)));
      ASSERT_GT(here, 0) << "too many keys, at " << position;
      for (const std::streamsize end = i + here; i < end; ++i, ++position) {
        ASSERT_EQ(static_cast<unsigned char>(block[static_cast<std::size_t>(i)]), key) << position;
      }
      left -= static_cast<std::uint64_t>(here);
    }
  }
  EXPECT_EQ(left, 0U) << "keys are missing after " << position;
}

class LargeCounts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LargeCounts, AreRight) {
  const std::uint64_t bytes = GetParam();
  const io::test::TempFolder folder;
  const auto facts = io::folder_facts(folder.path());
  if (!facts || facts->is_memory() || facts->free_bytes < bytes + kGiB) {
    GTEST_SKIP() << format_bytes(bytes) << " of output do not fit " << folder.path();
  }
  const Counts counts = write_sparse(folder / "in.u8", bytes);
  io::Reader reader({folder / "in.u8"}, {1});
  const Options options = test::options_for(KeyType::kU8, "64M");
  const Plan plan = test::plan_of(options, test::invented_machine(bytes, 2, kTiB));
  {
    io::Output output(folder / "out");
    const Outcome outcome = run_sort({.plan = plan, .reader = &reader}, {&output, 1});
    EXPECT_EQ(outcome.elements, bytes);
    EXPECT_TRUE(outcome.verified);
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "out"), bytes);
  expect_sorted_as(folder / "out", counts);
}

INSTANTIATE_TEST_SUITE_P(Elements, LargeCounts,
                         testing::Values(std::uint64_t{1} << 31, (std::uint64_t{1} << 32) + 3));

}  // namespace
}  // namespace gsort
