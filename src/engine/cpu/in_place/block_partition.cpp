#include "engine/cpu/in_place/block_partition.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "base/units.hpp"
#include "engine/cpu/in_place/read_ahead.hpp"
#include "engine/cpu/in_place/repeats.hpp"

namespace gsort::cpu {
namespace {

constexpr std::size_t kStretch = 256;  // keys whose buckets are looked up at once

// Several, so that workers need not wait for a slow one.
constexpr std::size_t kStripesPerWorker = 16;

constexpr std::uint64_t kNextPlace = std::uint64_t{1} << 32;

constexpr std::uint64_t next_of(std::uint64_t next_and_end) {
  return next_and_end >> 32;
}
constexpr std::uint64_t end_of(std::uint64_t next_and_end) {
  return next_and_end & (kNextPlace - 1);
}

}  // namespace

template <class Key>
BlockBuffers<Key>::BlockBuffers(std::size_t block_keys, std::size_t buckets)
    : block_keys_(block_keys),
      blocks_(nullptr, Free{std::align_val_t{block_keys * sizeof(Key)}}),
      ends_(buckets),
      written_(buckets) {
  // Also blocks that are carried, and a spare one.
  const std::size_t bytes = (buckets + kCarried + 1) * block_keys * sizeof(Key);
  blocks_.reset(static_cast<Key*>(::operator new(bytes, blocks_.get_deleter().alignment)));
}

template <class Key>
void BlockBuffers<Key>::clear(std::size_t buckets) {
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) ends_[bucket] = of(bucket);
  std::fill_n(written_.begin(), buckets, 0);
}

template <class Key>
BlockPartition<Key>::BlockPartition(std::span<Key> keys, const BucketMap<Key>& map,
                                    std::span<BlockBuffers<Key>> workers, TaskArena& tasks)
    : keys_(keys),
      map_(map),
      workers_(workers),
      tasks_(tasks),
      block_keys_(workers.front().block_keys()),
      places_(div_up(keys.size(), block_keys_)),
      stripes_(workers.size() == 1 ? 1 : kStripesPerWorker * workers.size()),
      begins_(map.buckets() + 1),
      full_(map.buckets()),
      of_bucket_(std::make_unique<Places[]>(map.buckets())),
      apart_(block_keys_) {
  const std::uint64_t whole = keys.size() / block_keys_;
  for (std::size_t i = 0; i < stripes_.size(); ++i) {
    stripes_[i].begin = stripes_[i].full_end = whole * i / stripes_.size();
    stripes_[i].end = whole * (i + 1) / stripes_.size();
  }
  stripes_.back().end = places_;
  const std::size_t tasks_of_borders = std::min(map.buckets(), 4 * workers.size());
  saved_.resize(tasks_of_borders * block_keys_);
  for (std::size_t i = 0; i < tasks_of_borders; ++i) {
    borders_.push_back({map.buckets() * i / tasks_of_borders,
                        map.buckets() * (i + 1) / tasks_of_borders,
                        saved_.data() + i * block_keys_});
  }
}

template <class Key>
template <class F>
void BlockPartition<Key>::for_each(std::size_t count, const F& f) {
  if (workers_.size() > 1) return tasks_.for_each(count, std::cref(f));
  for (std::size_t number = 0; number < count; ++number) f(number);
}

template <class Key>
std::span<const std::uint64_t> BlockPartition<Key>::run(const KeyMap<Key>& to_ordered) noexcept {
  for_each(workers_.size(), [&](std::size_t worker) { classify(worker, to_ordered); });
  count();
  for_each(borders_.size(), [&](std::size_t task) {
    for (std::size_t i = borders_[task].first; i < borders_[task].last; ++i) gather_full(i);
  });
  for_each(workers_.size(), [&](std::size_t worker) { permute(worker); });
  // Before any worker writes where buckets begin.
  for (const Borders& borders : borders_) {
    if (borders.last == map_.buckets()) break;
    const std::uint64_t end =
        std::min<std::uint64_t>(first_place(borders.last) * block_keys_, keys_.size());
    const std::uint64_t begin = begins_[borders.last];
    if (begin < end) std::memcpy(borders.saved, &keys_[begin], (end - begin) * sizeof(Key));
  }
  for_each(borders_.size(), [&](std::size_t task) { set_borders(borders_[task]); });
  return begins_;
}

template <class Key>
class BlockPartition<Key>::Output {
 public:
  Output(const BlockPartition& partition, Stripe* first)
      : keys_(partition.keys_.data()), block_keys_(partition.block_keys_), stripe_(first) {}

  void write(const Key* block) {
    while (stripe_->full_end == stripe_->end) stripe_ = stripe_->next;
    std::memcpy(keys_ + stripe_->full_end++ * block_keys_, block, block_keys_ * sizeof(Key));
  }

 private:
  Key* keys_;
  std::size_t block_keys_;
  Stripe* stripe_;
};

// Null: none is left.
template <class Key>
typename BlockPartition<Key>::Stripe* BlockPartition<Key>::take_stripe() {
  const std::size_t number = taken_.fetch_add(1);
  return number < stripes_.size() ? &stripes_[number] : nullptr;
}

template <class Key>
void BlockPartition<Key>::classify(std::size_t worker, const KeyMap<Key>& to_ordered) {
  BlockBuffers<Key>& buffers = workers_[worker];
  buffers.clear(map_.buckets());
  Stripe* stripe = take_stripe();
  Output output(*this, stripe);
  for (; stripe != nullptr; stripe = stripe->next = take_stripe()) {
    classify_stripe(*stripe, to_ordered, buffers, output);
  }
}

template <class Key>
void BlockPartition<Key>::classify_stripe(const Stripe& stripe, const KeyMap<Key>& to_ordered,
                                          BlockBuffers<Key>& buffers, Output& output) const {
  const std::span<const Key> keys =
      keys_.first(std::min<std::uint64_t>(stripe.end * block_keys_, keys_.size()))
          .subspan(stripe.begin * block_keys_);
  Key ordered[kStretch];
  std::uint16_t cells[kStretch];
  for (std::size_t at = 0; at < keys.size(); at += kStretch) {
    const std::size_t count = std::min(kStretch, keys.size() - at);
    const auto some = map_.find_cells(keys.subspan(at, count), to_ordered, ordered, cells);
    read_ahead(&keys[at], count * sizeof(Key));
    if (mostly_repeat({cells, count}, map_.bucket_of_cells())) {
      deal_out_repeats(some, {cells, count}, buffers, output);
    } else {
      deal_out(some, cells, buffers, output);
    }
  }
}

template <class Key>
void BlockPartition<Key>::deal_out(std::span<const Key> keys, const std::uint16_t* cells,
                                   BlockBuffers<Key>& buffers, Output& output) const {
  const std::size_t block_bytes = block_keys_ * sizeof(Key);
  const std::uint16_t* const bucket_of = map_.bucket_of_cells();
  Key** const ends = buffers.ends();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t bucket = bucket_of[cells[i]];
    Key* const end = ends[bucket];
    *end = keys[i];
    ends[bucket] = end + 1;
    if ((reinterpret_cast<std::uintptr_t>(end + 1) & (block_bytes - 1)) == 0) [[unlikely]] {
      Key* const block = end + 1 - block_keys_;
      output.write(block);
      ends[bucket] = block;
      ++buffers.written()[bucket];
    }
  }
}

template <class Key>
void BlockPartition<Key>::deal_out_repeats(std::span<const Key> keys,
                                           std::span<const std::uint16_t> cells,
                                           BlockBuffers<Key>& buffers, Output& output) const {
  const std::uint16_t* const bucket_of = map_.bucket_of_cells();
  for (std::size_t begin = 0; begin < keys.size();) {
    const std::size_t bucket = bucket_of[cells[begin]];
    std::size_t end = begin + 1;
    while (end < keys.size() && bucket_of[cells[end]] == bucket) ++end;
    while (begin < end) {
      Key*& place = buffers.ends()[bucket];
      const auto filled = static_cast<std::size_t>(place - buffers.of(bucket));
      const std::size_t count = std::min(end - begin, block_keys_ - filled);
      std::memcpy(place, &keys[begin], count * sizeof(Key));
      begin += count;
      place += count;
      if (filled + count < block_keys_) continue;
      place = buffers.of(bucket);
      output.write(place);
      ++buffers.written()[bucket];
    }
  }
}

template <class Key>
void BlockPartition<Key>::count() {
  std::uint64_t begin = 0;
  for (std::size_t bucket = 0; bucket < map_.buckets(); ++bucket) {
    begins_[bucket] = begin;
    std::uint64_t full = 0;
    for (BlockBuffers<Key>& buffers : workers_) {
      full += buffers.written()[bucket];
      begin += buffers.left(bucket).size();
    }
    full_[bucket] = full;
    begin += full * block_keys_;
  }
  begins_.back() = begin;
}

// Blocks of a bucket are at multiples of a block's size from the first one after its begin on.
template <class Key>
std::uint64_t BlockPartition<Key>::first_place(std::size_t bucket) const {
  return div_up(begins_[bucket], block_keys_);
}

template <class Key>
Key* BlockPartition<Key>::place(std::uint64_t number) {
  const bool is_apart = (number + 1) * block_keys_ > keys_.size();
  return is_apart ? apart_.data() : keys_.data() + number * block_keys_;
}

// Moves the blocks in the bucket's places, of any bucket, to the first of these places.
template <class Key>
void BlockPartition<Key>::gather_full(std::size_t bucket) {
  std::uint64_t front = first_place(bucket);
  std::uint64_t back = first_place(bucket + 1);
  const std::uint64_t first = front;
  const auto stripe_at = [this](std::uint64_t number) {
    return std::ranges::upper_bound(stripes_, number, {}, &Stripe::end);
  };
  auto low = stripe_at(front);
  auto high = back > front ? stripe_at(back - 1) : low;
  while (front < back) {
    if (front < low->full_end) {
      front = std::min(back, low->full_end);
    } else if (front == low->end) {
      ++low;
    } else if (back > high->full_end && back > high->begin) {
      back = std::max({front, high->full_end, high->begin});
    } else if (back == high->begin) {
      --high;
    } else {
      std::memcpy(place(front++), place(--back), block_keys_ * sizeof(Key));
    }
  }
  of_bucket_[bucket].next_and_end = first * kNextPlace + front;
}

// Each worker begins with different buckets. It carries several blocks in turn, so that it need not
// wait for memory: it fetches the place of each while it moves the others.
template <class Key>
void BlockPartition<Key>::permute(std::size_t worker) {
  BlockBuffers<Key>& buffers = workers_[worker];
  const std::size_t buckets = map_.buckets();
  const std::size_t first = buckets * worker / workers_.size();
  std::size_t done = 0;  // buckets without a block to pick up
  const auto pick_up_any = [&](Carried& carried) {
    for (; done < buckets; ++done) {
      const std::size_t bucket = first + done < buckets ? first + done : first + done - buckets;
      if (!pick_up(bucket, carried.block)) continue;
      carried.bucket = map_(carried.block[0]);
      take_place(carried);
      return true;
    }
    return false;
  };
  std::array<Carried, BlockBuffers<Key>::kCarried> all;
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].block = buffers.carried(i);
  Key* free = buffers.carried(all.size());
  for (;;) {
    while (count < all.size() && pick_up_any(all[count])) ++count;
    if (count == 0) return;
    for (std::size_t i = 0; i < count;) {
      if (put_down(all[i], free)) {
        take_place(all[i++]);
      } else {
        std::swap(all[i], all[--count]);
      }
    }
  }
}

// Takes the last block that no worker has moved. Returns false if there is none.
template <class Key>
bool BlockPartition<Key>::pick_up(std::size_t bucket, Key* to) {
  Places& places = of_bucket_[bucket];
  std::uint64_t now = places.next_and_end.load(std::memory_order_acquire);
  if (next_of(now) >= end_of(now)) return false;
  places.readers.fetch_add(1);
  while (next_of(now) < end_of(now) && !places.next_and_end.compare_exchange_weak(now, now - 1)) {
  }
  const bool taken = next_of(now) < end_of(now);
  if (taken) std::memcpy(to, place(end_of(now) - 1), block_keys_ * sizeof(Key));
  places.readers.fetch_sub(1);
  return taken;
}

// Takes and fetches the next place of the block's bucket.
template <class Key>
void BlockPartition<Key>::take_place(Carried& carried) {
  const std::uint64_t then = of_bucket_[carried.bucket].next_and_end.fetch_add(kNextPlace);
  carried.to = place(next_of(then));
  carried.is_empty = next_of(then) >= end_of(then);
  for (std::size_t byte = 0; byte < block_keys_ * sizeof(Key); byte += 64) {
    __builtin_prefetch(reinterpret_cast<const char*>(carried.to) + byte, 1);
  }
}

// Moves the block to its place and carries the one there, unless that one stays. False if there was
// none.
template <class Key>
bool BlockPartition<Key>::put_down(Carried& carried, Key*& free) {
  const std::size_t block_bytes = block_keys_ * sizeof(Key);
  if (carried.is_empty) {
    while (of_bucket_[carried.bucket].readers.load() != 0) std::this_thread::yield();
    std::memcpy(carried.to, carried.block, block_bytes);
    return false;
  }
  const std::size_t bucket_there = map_(carried.to[0]);
  if (bucket_there == carried.bucket) return true;  // it is in its place
  std::memcpy(free, carried.to, block_bytes);
  std::memcpy(carried.to, carried.block, block_bytes);
  std::swap(carried.block, free);
  carried.bucket = bucket_there;
  return true;
}

template <class Key>
void BlockPartition<Key>::set_borders(const Borders& borders) {
  for (std::size_t bucket = borders.first; bucket < borders.last; ++bucket) {
    set_border(bucket, borders);
  }
}

// Fills the parts of the bucket's range that its blocks leave empty, before the first one and after
// the last one. The keys of the last block beyond the range go there, and the keys left in the
// workers' buffers.
template <class Key>
void BlockPartition<Key>::set_border(std::size_t bucket, const Borders& borders) {
  const std::uint64_t end = begins_[bucket + 1];
  const std::uint64_t first_block = first_place(bucket) * block_keys_;
  const std::uint64_t blocks_end = first_block + full_[bucket] * block_keys_;
  Key* to = keys_.data() + begins_[bucket];
  Key* gap_end = keys_.data() + std::min(first_block, end);
  const auto put = [&](const Key* from, std::size_t count) {
    const auto room = std::min(count, static_cast<std::size_t>(gap_end - to));
    std::memcpy(to, from, room * sizeof(Key));
    to += room;
    if (room == count) return;
    to = keys_.data() + blocks_end;
    gap_end = keys_.data() + end;
    std::memcpy(to, from + room, (count - room) * sizeof(Key));
    to += count - room;
  };
  if (full_[bucket] > 0 && blocks_end > keys_.size()) {
    const std::uint64_t in_array = end - (blocks_end - block_keys_);
    std::memcpy(keys_.data() + end - in_array, apart_.data(), in_array * sizeof(Key));
    put(apart_.data() + in_array, blocks_end - end);
  } else if (full_[bucket] > 0 && blocks_end > end) {
    const std::uint64_t saved_from = std::max(end, std::min(blocks_end, begins_[borders.last]));
    put(keys_.data() + end, saved_from - end);
    put(borders.saved, blocks_end - saved_from);
  }
  for (BlockBuffers<Key>& buffers : workers_) {
    const auto left = buffers.left(bucket);
    put(left.data(), left.size());
  }
}

template class BlockBuffers<std::uint32_t>;
template class BlockBuffers<std::uint64_t>;
template class BlockBuffers<UInt128>;
template class BlockPartition<std::uint32_t>;
template class BlockPartition<std::uint64_t>;
template class BlockPartition<UInt128>;

}  // namespace gsort::cpu
