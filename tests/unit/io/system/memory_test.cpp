#include "io/system/memory.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

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

TEST(WholePages, LieInsideThePart) {
  for (const std::uint64_t page : {std::uint64_t{4096}, std::uint64_t{65536}}) {
    const Arena arena(4 * page, "tests");
    const ByteSpan bytes = arena.bytes();
    const ByteSpan one = whole_pages_of(bytes.subspan(1, 2 * page), page);
    EXPECT_EQ(one.data(), bytes.data() + page);
    EXPECT_EQ(one.size(), page);
    EXPECT_EQ(whole_pages_of(bytes, page).size(), 4 * page);
    EXPECT_TRUE(whole_pages_of(bytes.first(page - 1), page).empty());
    EXPECT_TRUE(whole_pages_of(bytes.subspan(1, 10), page).empty());
    EXPECT_TRUE(whole_pages_of(bytes.subspan(1, page - 1), page).empty());
  }
}

TEST(MemoryPages, AreThoseOfTheKernel) {
  const std::uint64_t page = memory_page_bytes();
  EXPECT_TRUE(page >= 4096 && (page & (page - 1)) == 0) << page;
  const Arena arena(2 * page, "tests");
  unsigned char resident = 0;
  EXPECT_EQ(sys::mincore(arena.data() + page, page, &resident), 0);
  EXPECT_NE(sys::mincore(arena.data() + page / 2, page, &resident), 0) << "half a page";
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
