#include "io/buffer_pool.hpp"

#include <atomic>
#include <thread>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

TEST(BufferPool, LendsAlignedBuffersAndTheWarmOneFirst) {
  BufferPool pool(5000, 2, "tests");
  std::byte* first = nullptr;
  {
    const BufferPool::Lease lease = pool.take();
    first = lease.bytes().data();
    EXPECT_GE(lease.bytes().size(), 5000U);
    EXPECT_TRUE(is_aligned(first));
    const BufferPool::Lease other = pool.take();
    EXPECT_TRUE(is_aligned(other.bytes().data()));
    EXPECT_NE(other.bytes().data(), first);
  }
  EXPECT_EQ(pool.take().bytes().data(), first);
}

TEST(BufferPool, NeverLendsABufferTwice) {
  BufferPool pool(4096, 2, "tests");
  std::atomic<int> out{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const BufferPool::Lease lease = pool.take();
        if (++out > 2) too_many = true;
        lease.bytes().front() = static_cast<std::byte>(i);
        --out;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(too_many);
}

}  // namespace
}  // namespace gsort::io
