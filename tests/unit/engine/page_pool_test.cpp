#include "engine/cpu/page_pool.hpp"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/system/memory.hpp"

namespace gsort::cpu {
namespace {

TEST(PagePool, HandsOutEveryPageOnceInAddressOrder) {
  const io::Arena memory(16 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  for (PagePool::Page page = 0; page < 16; ++page) {
    EXPECT_EQ(pool.take(), page);
    EXPECT_EQ(pool.address_of(page), memory.data() + page * 4096);
  }
}

TEST(PagePool, RefusesMoreThanItHasAndStaysUsable) {
  const io::Arena memory(2 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  (void)pool.take();
  const PagePool::Page second = pool.take();
  for (int i = 0; i < 3; ++i) EXPECT_THROW((void)pool.take(), Error);
  pool.give_back(second);
  EXPECT_EQ(pool.take(), second);
  EXPECT_THROW((void)pool.take(), Error);
  pool.reset();
  EXPECT_EQ(pool.take(), 0U);
}

TEST(PagePool, HandsOutStretchesFromItsEnd) {
  const io::Arena memory(16 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  const ByteSpan last = pool.take_stretch(4);
  EXPECT_EQ(last.data(), memory.data() + 12 * 4096);
  EXPECT_EQ(last.size(), 4U * 4096);
  EXPECT_EQ(pool.take(), 0U);
  EXPECT_EQ(pool.take_stretch(2).data(), memory.data() + 10 * 4096);
  for (PagePool::Page page = 1; page < 10; ++page) EXPECT_EQ(pool.take(), page);
  EXPECT_THROW((void)pool.take(), Error);
  EXPECT_THROW((void)pool.take_stretch(1), Error);
  pool.reset();
  EXPECT_EQ(pool.take_stretch(16).data(), memory.data());
}

TEST(PagePool, RefusesAStretchLongerThanWhatIsLeftAndKeepsThat) {
  const io::Arena memory(4 * 4096, "pages");
  PagePool pool(memory.bytes(), 4096);
  EXPECT_EQ(pool.take(), 0U);
  EXPECT_THROW((void)pool.take_stretch(4), Error);
  EXPECT_EQ(pool.take_stretch(3).data(), memory.data() + 1 * 4096);
}

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
          own.push_back(pool.take());
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
  EXPECT_THROW((void)pool.take(), Error);
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
          const PagePool::Page page = pool.take();
          if (i % 3 == 0) {
            pool.give_back(page);
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
