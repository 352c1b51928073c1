#include "engine/cpu/page_pool.hpp"

#include <array>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/system/memory.hpp"

namespace gsort::cpu {
namespace {

PagePool::Page take_from(PagePool& pool) {
  PagePool::Page page = PagePool::kNone;
  EXPECT_EQ(pool.take({&page, 1}), 1U);
  return page;
}

TEST(PagePool, HandsOutEveryPageOnceInAddressOrder) {
  const io::Arena memory(16 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  for (PagePool::Page page = 0; page < 16; ++page) {
    EXPECT_EQ(take_from(pool), page);
    EXPECT_EQ(pool.address_of(page), memory.data() + page * 4096);
  }
}

TEST(PagePool, HandsOutSeveralPagesOrAsManyAsItHas) {
  const io::Arena memory(6 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  std::array<PagePool::Page, 4> pages{};
  EXPECT_EQ(pool.take(pages), 4U);
  EXPECT_EQ(pages, (std::array<PagePool::Page, 4>{0, 1, 2, 3}));
  EXPECT_EQ(pool.take(pages), 2U);
  EXPECT_EQ(pages[0], 4U);
  EXPECT_EQ(pages[1], 5U);
  EXPECT_THROW((void)pool.take(pages), Error);
  pool.give_back(std::span(pages).first(3));  // 4, 5, 2
  std::array<PagePool::Page, 2> some{};
  EXPECT_EQ(pool.take(some), 2U);
  EXPECT_EQ(pool.take(some), 1U);
  EXPECT_EQ(some[0], 4U);
  EXPECT_THROW((void)pool.take(some), Error);
}

TEST(PagePool, RefusesMoreThanItHasAndStaysUsable) {
  const io::Arena memory(2 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  (void)take_from(pool);
  const PagePool::Page second = take_from(pool);
  for (int i = 0; i < 3; ++i) EXPECT_THROW((void)take_from(pool), Error);
  pool.give_back({&second, 1});
  EXPECT_EQ(take_from(pool), second);
  EXPECT_THROW((void)take_from(pool), Error);
  pool.reset();
  EXPECT_EQ(take_from(pool), 0U);
}

TEST(PagePool, HandsOutStretchesFromItsEnd) {
  const io::Arena memory(16 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  const ByteSpan last = pool.take_stretch(4);
  EXPECT_EQ(last.data(), memory.data() + 12 * 4096);
  EXPECT_EQ(last.size(), 4U * 4096);
  EXPECT_EQ(take_from(pool), 0U);
  EXPECT_EQ(pool.take_stretch(2).data(), memory.data() + 10 * 4096);
  for (PagePool::Page page = 1; page < 10; ++page) EXPECT_EQ(take_from(pool), page);
  EXPECT_THROW((void)take_from(pool), Error);
  EXPECT_THROW((void)pool.take_stretch(1), Error);
  pool.reset();
  EXPECT_EQ(pool.take_stretch(16).data(), memory.data());
}

TEST(PagePool, RefusesAStretchLongerThanWhatIsLeftAndKeepsThat) {
  const io::Arena memory(4 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  EXPECT_EQ(take_from(pool), 0U);
  EXPECT_THROW((void)pool.take_stretch(4), Error);
  EXPECT_EQ(pool.take_stretch(3).data(), memory.data() + 1 * 4096);
}

// The first thread of run_workers() would often do this work before the others begin.
TEST(PagePool, GivesPagesAndStretchesToSeveralThreads) {
  constexpr std::size_t kPages = 4'000;
  const io::Arena memory(kPages * 64, "pages");
  PagePool pool(memory.bytes(), 64);
  std::vector<std::size_t> taken[4];
  {
    std::vector<std::jthread> threads;
    for (auto& own : taken) {
      threads.emplace_back([&pool, &own, &memory] {
        for (std::size_t i = 0; i < kPages / 4 / 4; ++i) {
          own.push_back(take_from(pool));
          const ByteSpan stretch = pool.take_stretch(3);
          const auto first = static_cast<std::size_t>(stretch.data() - memory.data()) / 64;
          for (std::size_t page = first; page < first + 3; ++page) own.push_back(page);
        }
      });
    }
  }
  std::set<std::size_t> all;
  for (const auto& own : taken) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), kPages) << "a page was given to two";
  EXPECT_THROW((void)take_from(pool), Error);
}

TEST(PagePool, SharesItsPagesBetweenThreads) {
  const io::Arena memory(4'000 * 64, "pages");
  PagePool pool(memory.bytes(), 64);
  std::set<PagePool::Page> taken[4];
  {
    std::vector<std::jthread> threads;
    for (auto& own : taken) {
      threads.emplace_back([&pool, &own] {
        for (int i = 0; i < 1'000; ++i) {
          const PagePool::Page page = take_from(pool);
          if (i % 3 == 0) {
            pool.give_back({&page, 1});
          } else {
            own.insert(page);
          }
        }
      });
    }
  }
  std::set<PagePool::Page> all;
  std::size_t sum = 0;
  for (const auto& own : taken) {
    all.insert(own.begin(), own.end());
    sum += own.size();
  }
  EXPECT_EQ(all.size(), sum) << "a page was given to two";
}

}  // namespace
}  // namespace gsort::cpu
