#include "engine/cpu/page_pool.hpp"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/memory.hpp"

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
