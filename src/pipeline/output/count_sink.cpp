#include "pipeline/output/count_sink.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "element/record_text.hpp"
#include "element/repeated_keys.hpp"
#include "form/counted_lines.hpp"

namespace gsort {
namespace {

// Keys that are put at once: with its count, a key takes a few times its bytes.
constexpr std::size_t kBatchKeys = std::size_t{4} << 10;

template <class Key>
std::size_t first_run(std::span<const Key> keys) {
  const auto end = std::ranges::find_if(keys, [&](Key key) { return key != keys.front(); });
  return static_cast<std::size_t>(end - keys.begin());
}

template <class Key>
std::size_t last_run(std::span<const Key> keys) {
  std::size_t run = 1;
  while (run < keys.size() && keys[keys.size() - run - 1] == keys.back()) ++run;
  return run;
}

}  // namespace

// Groups on their way to the output, in the order of their numbers and places.
class CountSink::Batch {
 public:
  Batch(CountSink& sink, const Turn& turn) : sink_(sink), number_(turn.number), place_(turn.place) {
    keys_.reserve(kBatchKeys * sink.key_bytes_);
    counts_.reserve(kBatchKeys);
  }

  void add(const Group& group) {
    if (group.count == 0) return;
    keys_.insert(keys_.end(), group.key.data(), group.key.data() + sink_.key_bytes_);
    counts_.push_back(group.count);
    if (counts_.size() == kBatchKeys) flush();
  }

  // Throws: Error(kCorrupt) unless all places up to `end` have been taken.
  void finish(std::uint64_t end) {
    flush();
    if (place_ != end) throw dropped_others(end);
  }

 private:
  void flush() {
    if (sink_.proof_of_all_) {
      sink_.proof_of_all_->add_counted_output(number_, all(), 1);
      number_ += counts_.size();
      drop_rare();
    }
    put();
    keys_.clear();
    counts_.clear();
  }

  // Keeps the groups that come out.
  void drop_rare() {
    std::vector<std::byte> rare_keys;
    std::vector<std::uint64_t> rare_counts;
    const std::size_t size = sink_.key_bytes_;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const std::byte* const key = keys_.data() + i * size;
      if (counts_[i] < sink_.min_count_) {
        rare_keys.insert(rare_keys.end(), key, key + size);
        rare_counts.push_back(counts_[i]);
      } else {
        std::memmove(keys_.data() + kept * size, key, size);
        counts_[kept++] = counts_[i];
      }
    }
    keys_.resize(kept * size);
    counts_.resize(kept);
    sink_.proof_.add_counted_dropped({rare_keys, size, rare_counts}, sink_.min_count_);
  }

  // The proof splits the joined keys and counts again.
  void put() {
    if (counts_.empty()) return;
    const bool big_endian = sink_.format_.key.big_endian;
    pairs_.resize(keys_.size() + counts_.size() * kCountBytes);
    join_counts(all(), big_endian, pairs_.data());
    split_counts(pairs_, sink_.key_bytes_, big_endian, keys_.data(), counts_);
    sink_.proof_.add_counted_output(place_, all(), sink_.min_count_);
    sink_.next_.put(place_, pairs_);
    place_ += counts_.size();
  }

  [[nodiscard]] CountedKeys all() const { return {keys_, sink_.key_bytes_, counts_}; }

  CountSink& sink_;
  std::uint64_t number_;
  std::uint64_t place_;
  std::vector<std::byte> keys_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::byte> pairs_;
};

CountSink::CountSink(const ElementFormat& format, bool adds_counts, std::uint64_t min_count,
                     Proof& proof, PieceSink& next)
    : PassingSink(next),
      format_(format),
      key_bytes_(format.bytes()),
      adds_counts_(adds_counts),
      element_bytes_(key_bytes_ + (adds_counts ? kCountBytes : 0)),
      min_count_(min_count),
      proof_(proof) {
  if (min_count > 1) proof_of_all_.emplace(format, proof.enabled(), nullptr, OrderKind::kStrict);
}

void CountSink::put(std::uint64_t position, ConstByteSpan keys) {
  if (keys.empty()) return;
  if (adds_counts_ || format_.records) return put_one_by_one(position, keys);
  with_key_of_width(key_bytes_, [&](auto width) {
    using Key = decltype(width);
    const std::span all(reinterpret_cast<const Key*>(keys.data()), keys.size() / sizeof(Key));
    const auto map = KeyMap<Key>::classes_of(format_.key);
    std::size_t done = 0;
    const auto put_up_to = [&](std::size_t end) {
      if (done < end) put_keys(position + done, all.subspan(done, end - done));
      done = end;
    };
    for (const std::span<const Key> equal :
         floats_of_several_bits(all, map, [&](Key key) { return map.to_ordered(key); })) {
      if (equal.empty()) continue;
      put_up_to(static_cast<std::size_t>(equal.data() - all.data()));
      put_alike(position + done, equal);
      done += equal.size();
    }
    put_up_to(all.size());
  });
}

// Reads the elements twice, because their places depend on the number of keys.
void CountSink::put_one_by_one(std::uint64_t position, ConstByteSpan elements) {
  const Ends ends = ends_one_by_one(elements);
  const std::uint64_t count = elements.size() / element_bytes_;
  const Turn turn = turns_.take(position, count, [&] { return take_turn(ends); });
  Batch batch(*this, turn);
  batch.add(turn.before);
  batch.add(turn.first);
  std::uint64_t number = 0;
  for_each_group(elements, [&](const Group& group) {
    if (number > 0 && number <= ends.between) batch.add(group);
    ++number;
  });
  batch.finish(turn.end);
}

template <class Use>
void CountSink::for_each_group(ConstByteSpan elements, const Use& use) const {
  Group group;
  while (!elements.empty()) {
    Group next{{}, 1};
    if (adds_counts_) {
      split_counts(elements, key_bytes_, format_.key.big_endian, next.key.data(), {&next.count, 1});
    } else {
      std::memcpy(next.key.data(), elements.data(), key_bytes_);
    }
    elements = elements.subspan(element_bytes_);
    if (group.count > 0 && group.key == next.key) {
      group = joined(group, next);
    } else {
      if (group.count > 0) use(group);
      group = next;
    }
  }
  if (group.count > 0) use(group);
}

template <class Key>
CountSink::Group CountSink::group_of(Key key, std::uint64_t count) {
  Group group{{}, count};
  std::memcpy(group.key.data(), &key, sizeof(key));
  return group;
}

// Requires: their keys are equal.
CountSink::Group CountSink::joined(const Group& a, const Group& b) const {
  Group both{a.key, 0};
  if (!__builtin_add_overflow(a.count, b.count, &both.count)) return both;
  throw Error(ErrorKind::kInput, "adding counts",
              fmt::format("those of the key {} add up to more than {}",
                          text_of_keys(format_, a.key.data()), UINT64_MAX))
      .hint(kCountsHint);
}

// Requires: the keys are equal.
template <class Key>
void CountSink::put_alike(std::uint64_t position, std::span<const Key> keys) {
  std::vector<Key> alike;
  while (!keys.empty()) {
    const auto some = keys.first(std::min(keys.size(), kBatchKeys));
    alike.assign(some.begin(), some.end());
    const Fingerprint difference = proof_.make_alike(std::as_writable_bytes(std::span(alike)));
    if (proof_of_all_) proof_of_all_->add_difference(difference);
    put_keys<Key>(position, alike);
    position += some.size();
    keys = keys.subspan(some.size());
  }
}

template <class Key>
void CountSink::put_keys(std::uint64_t position, std::span<const Key> keys) {
  const Ends ends = ends_of(keys);
  const Turn turn = turns_.take(position, keys.size(), [&] { return take_turn(ends); });
  Batch batch(*this, turn);
  batch.add(turn.before);
  batch.add(turn.first);
  std::span<const Key> between = keys.subspan(ends.first.count);
  between = between.first(between.size() - ends.last.count);
  while (!between.empty()) {
    const std::size_t run = first_run(between);
    batch.add(group_of(between.front(), run));
    between = between.subspan(run);
  }
  batch.finish(turn.end);
}

template <class Key>
CountSink::Ends CountSink::ends_of(std::span<const Key> keys) const {
  Ends ends;
  ends.first = group_of(keys.front(), first_run(keys));
  std::span<const Key> rest = keys.subspan(ends.first.count);
  if (rest.empty()) return ends;
  ends.last = group_of(rest.back(), last_run(rest));
  rest = rest.first(rest.size() - ends.last.count);
  ends.between = rest.empty() ? 0 : count_changes(rest) + 1;
  if (min_count_ <= 1) ends.often_between = ends.between;
  while (min_count_ > 1 && !rest.empty()) {
    const std::size_t run = first_run(rest);
    if (run >= min_count_) ++ends.often_between;
    rest = rest.subspan(run);
  }
  return ends;
}

CountSink::Ends CountSink::ends_one_by_one(ConstByteSpan elements) const {
  Ends ends;
  for_each_group(elements, [&](const Group& group) {
    if (ends.first.count == 0) {
      ends.first = group;
      return;
    }
    if (ends.last.count > 0) ++ends.between;
    if (is_often(ends.last)) ++ends.often_between;
    ends.last = group;
  });
  return ends;
}

CountSink::Turn CountSink::take_turn(const Ends& ends) {
  Turn turn{next_number_, next_place_, next_place_, {}, {}};
  Group first = ends.first;
  if (held_.key == first.key) {
    first = joined(held_, first);
  } else if (held_.count > 0) {
    turn.before = held_;
    count_groups(1, is_often(held_) ? 1 : 0);
  }
  if (ends.last.count == 0) {
    held_ = first;
  } else {
    turn.first = first;
    count_groups(1, is_often(first) ? 1 : 0);
    count_groups(ends.between, ends.often_between);
    held_ = ends.last;
  }
  turn.end = next_place_;
  return turn;
}

void CountSink::count_groups(std::uint64_t groups, std::uint64_t often) {
  next_number_ += groups;
  next_place_ += often;
}

void CountSink::abandon() noexcept {
  turns_.abandon();
  PassingSink::abandon();
}

void CountSink::end() {
  Batch batch(*this, {next_number_, next_place_, next_place_, {}, {}});
  batch.add(held_);
  batch.finish(next_place_ + (is_often(held_) ? 1 : 0));
  if (!proof_of_all_) return;
  proof_of_all_->add_input_of_before(proof_.input());
  proof_of_all_->finish();
}

}  // namespace gsort
