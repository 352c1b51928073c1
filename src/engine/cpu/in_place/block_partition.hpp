// BlockPartition: deals keys out to buckets within the array that holds them.
//
// Problem. Dealing keys out to a second array needs as much memory again, and touching new pages
// costs more than the sort itself.
//
// Idea. Keys move in blocks. Each worker takes stripes of the array until none is left, reads them
// and puts every key into a block-sized buffer of the key's bucket. A full buffer is written over
// the first keys of its stripes, which have all been read by then: the other buffers hold fewer
// keys. Afterwards its stripes are full blocks, each of one bucket, followed by empty places. The
// sizes of the buckets are known now, and so which places belong to which bucket. All workers then
// move whole blocks to places of their buckets: each carries a block to the next place of its
// bucket, picks up the block there, and carries that on. It carries several blocks in turn. Last,
// the keys that do not fill a block go to the borders.
//
// Example. Blocks of two keys, one worker, buckets a and b, keys b1 a1 b2 b3 a2 a3 a4 b4 a5:
//   classify   [b1 b2][a1 a2][a3 a4][b3 b4][.]   left in the buffer of a: a5
//   places     a has 5 keys, so b begins at 5: places of a are 0 to 2, of b 3 and 4
//   permute    [a3 a4][a1 a2][..][b3 b4][b1 b2]: the last place reaches beyond the array, so its
//              block is kept apart
//   borders    a5 to 4; b1 b2 to where b has room: a3 a4 a1 a2 a5 b2 b3 b4 b1
//
// Cost. Two reads and two writes of every key, all in blocks, and memory for a block of each bucket
// for each worker. Blocks are moved once, whatever the keys are; a block that is already in a place
// of its bucket stays there.
//
// Source: Axtmann, Witt, Ferizovic, Sanders, "Engineering In-Place (Shared-Memory) Sorting
// Algorithms", ACM Transactions on Parallel Computing 9 (2022), doi:10.1145/3505286.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/tasks.hpp"
#include "element/element.hpp"
#include "engine/cpu/bucket_map.hpp"

namespace gsort::cpu {

// The memory that one worker needs to deal out to at most `buckets` buckets.
template <class Key>
class BlockBuffers {
 public:
  static constexpr std::size_t kCarried = 4;  // blocks that a worker carries in turn

  // Requires: block_keys is a power of two. Throws: std::bad_alloc.
  BlockBuffers(std::size_t block_keys, std::size_t buckets);

  [[nodiscard]] std::size_t block_keys() const { return block_keys_; }
  [[nodiscard]] std::size_t buckets() const { return ends_.size(); }

  void clear(std::size_t buckets);
  [[nodiscard]] Key* of(std::size_t bucket) { return blocks_.get() + bucket * block_keys_; }
  [[nodiscard]] Key* carried(std::size_t which) { return of(ends_.size() + which); }
  [[nodiscard]] Key** ends() { return ends_.data(); }
  [[nodiscard]] std::uint64_t* written() { return written_.data(); }
  [[nodiscard]] std::span<const Key> left(std::size_t bucket) {
    return {of(bucket), static_cast<std::size_t>(ends_[bucket] - of(bucket))};
  }

 private:
  struct Free {
    void operator()(Key* blocks) const { ::operator delete(blocks, alignment); }
    std::align_val_t alignment;
  };

  std::size_t block_keys_;
  std::unique_ptr<Key[], Free> blocks_;
  std::vector<Key*> ends_;              // of the keys in the bucket's buffer
  std::vector<std::uint64_t> written_;  // blocks of each bucket in the worker's stripes
};

template <class Key>
class BlockPartition {
 public:
  // Takes all memory that it needs beside `workers`, one for each worker: two or more deal out
  // together, as tasks of `tasks`. Requires: all arguments outlive it; all buffers are alike and
  // have room for map.buckets(). Throws: std::bad_alloc.
  BlockPartition(std::span<Key> keys, const BucketMap<Key>& map,
                 std::span<BlockBuffers<Key>> workers, TaskArena& tasks);

  // Maps raw keys and deals them out. Returns where the buckets begin, followed by where the
  // last one ends. Called once; does not throw.
  [[nodiscard]] std::span<const std::uint64_t> run(const KeyMap<Key>& to_ordered) noexcept;

 private:
  // Places of blocks: the next one to write to, and the end of those that hold blocks that
  // no worker has moved yet.
  struct alignas(64) Places {
    std::atomic<std::uint64_t> next_and_end{0};  // 32 bits each: they change together
    std::atomic<std::uint32_t> readers{0};       // workers that pick up a block that was the last
  };
  struct alignas(64) Stripe {
    std::uint64_t begin = 0;  // places
    std::uint64_t end = 0;
    std::uint64_t full_end = 0;
    Stripe* next = nullptr;  // that the same worker takes
  };
  // Where a worker writes full blocks: over the keys that it has read, in all its stripes.
  class Output;
  // A block that is carried; no other worker touches its place.
  struct Carried {
    Key* block = nullptr;
    std::size_t bucket = 0;
    Key* to = nullptr;
    bool is_empty = false;  // the place has no block
  };
  // Buckets whose borders one task sets, and a copy of the keys behind them: keys of their last
  // blocks, where the task of the next buckets writes.
  struct Borders {
    std::size_t first = 0;
    std::size_t last = 0;  // one past
    Key* saved = nullptr;
  };

  template <class F>
  void for_each(std::size_t count, const F& f);

  void classify(std::size_t worker, const KeyMap<Key>& to_ordered);
  Stripe* take_stripe();
  void classify_stripe(const Stripe& stripe, const KeyMap<Key>& to_ordered,
                       BlockBuffers<Key>& buffers, Output& output) const;
  void deal_out(std::span<const Key> keys, const std::uint16_t* cells, BlockBuffers<Key>& buffers,
                Output& output) const;
  void deal_out_repeats(std::span<const Key> keys, std::span<const std::uint16_t> cells,
                        BlockBuffers<Key>& buffers, Output& output) const;
  void count();
  void gather_full(std::size_t bucket);
  void permute(std::size_t worker);
  bool pick_up(std::size_t bucket, Key* to);
  void take_place(Carried& carried);
  bool put_down(Carried& carried, Key*& free);
  [[nodiscard]] Key* place(std::uint64_t number);
  void set_borders(const Borders& borders);
  void set_border(std::size_t bucket, const Borders& borders);
  [[nodiscard]] std::uint64_t first_place(std::size_t bucket) const;

  std::span<Key> keys_;
  const BucketMap<Key>& map_;
  std::span<BlockBuffers<Key>> workers_;
  TaskArena& tasks_;
  std::size_t block_keys_;
  std::uint64_t places_;  // the last one may reach beyond the keys
  std::vector<Stripe> stripes_;
  std::atomic<std::size_t> taken_{0};  // stripes
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> full_;  // blocks of each bucket
  std::unique_ptr<Places[]> of_bucket_;
  std::vector<Borders> borders_;
  std::vector<Key> apart_;  // the block of the last place, if that reaches beyond the keys
  std::vector<Key> saved_;
};

extern template class BlockBuffers<std::uint32_t>;
extern template class BlockBuffers<std::uint64_t>;
extern template class BlockBuffers<UInt128>;
extern template class BlockPartition<std::uint32_t>;
extern template class BlockPartition<std::uint64_t>;
extern template class BlockPartition<UInt128>;

}  // namespace gsort::cpu
