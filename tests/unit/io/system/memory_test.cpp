#include "io/system/memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/mman.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using test::error_of;
using test::FaultScope;

TEST(Arena, IsAlignedZeroAndOfTheSizeAsked) {
  const Arena arena((std::size_t{5} << 20) + 3, "tests");
  EXPECT_EQ(arena.size(), (std::size_t{5} << 20) + 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % kHugePageBytes, 0U);
  EXPECT_TRUE(std::ranges::all_of(arena.bytes(), [](std::byte b) { return b == std::byte{}; }));
  arena.bytes().back() = std::byte{1};
}

TEST(Arena, IsNotTouched) {
  const Arena arena(std::size_t{64} << 20, "tests");
  std::vector<unsigned char> resident(arena.size() / 4096);
  ASSERT_EQ(sys::mincore(arena.data(), arena.size(), resident.data()), 0);
  EXPECT_EQ(std::ranges::count_if(resident, [](unsigned char r) { return (r & 1U) != 0; }), 0);
}

TEST(Arena, IsNothingForZeroBytes) {
  const Arena arena(0, "tests");
  EXPECT_TRUE(arena.bytes().empty());
}

TEST(Arena, Moves) {
  Arena first(4096, "tests");
  std::byte* const data = first.data();
  Arena second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.size(), 0U);
  second = Arena(8192, "tests");
  EXPECT_EQ(second.size(), 8192U);
}

TEST(Arena, DiscardsWholePages) {
  const Arena arena(4 * 4096, "tests");
  std::ranges::fill(arena.bytes(), std::byte{7});
  Arena::discard(arena.bytes().subspan(1, 2 * 4096));  // holds one whole page
  EXPECT_EQ(arena.bytes()[4095], std::byte{7});
  EXPECT_EQ(arena.bytes()[4096], std::byte{0});
  EXPECT_EQ(arena.bytes()[8191], std::byte{0});
  EXPECT_EQ(arena.bytes()[8192], std::byte{7});
  Arena::discard(arena.bytes().subspan(1, 10));  // none
  EXPECT_EQ(arena.bytes()[5], std::byte{7});
}

TEST(Arena, SaysWhatWasRefused) {
  const FaultScope fault({sys::Call::kMmap, 1, ENOMEM});
  const Error error = error_of([] { const Arena arena(std::size_t{3} << 30, "sorting"); });
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_EQ(std::string(error.what()).substr(0, 54),
            "reserving 3 GiB for sorting: Cannot allocate memory\n  ");
}

TEST(Arena, RefusesAbsurdSizes) {
  EXPECT_EQ(error_of([] { const Arena arena(SIZE_MAX, "tests"); }).kind(), ErrorKind::kResource);
  EXPECT_EQ(error_of([] { const Arena arena(SIZE_MAX / 4, "tests"); }).kind(),
            ErrorKind::kResource);
}

TEST(PreferNode, LeavesMemoryUsableWhateverTheKernelSays) {
  const Arena memory(1 << 20, "tests");
  static_cast<void>(prefer_node(memory.bytes().subspan(100), 0));
  EXPECT_FALSE(prefer_node(memory.bytes(), 1023));
  EXPECT_TRUE(prefer_node(memory.bytes().first(100), 0)) << "no whole page";
  const test::FaultScope fault({sys::Call::kMmap, 1, EPERM});
  EXPECT_FALSE(prefer_node(memory.bytes(), 0));
  memory.bytes()[memory.size() - 1] = std::byte{1};
}

}  // namespace
}  // namespace gsort::io
