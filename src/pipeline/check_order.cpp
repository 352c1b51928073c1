#include "pipeline/check_order.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "element/fingerprint.hpp"
#include "element/key_loops.hpp"
#include "element/repeated_keys.hpp"
#include "element/value.hpp"
#include "engine/engine.hpp"
#include "io/system/memory.hpp"
#include "pipeline/input/metered_read.hpp"

namespace gsort {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

// The value of a raw key, as people write it.
template <class Key>
std::string text_of(Key raw, const KeyFormat& format) {
  if (format.big_endian) raw = swap_bytes(raw);
  return with_value_of_type(format.type, [raw](auto value) {
    std::memcpy(&value, &raw, sizeof(value));
    return fmt::format("{}", value);
  });
}

template <class Key>
class OrderCheck {
 public:
  OrderCheck(const KeyFormat& format, const WantedOrder& order, io::Reader& reader, Meter* meter)
      : format_(format),
        order_(order),
        map_(KeyMap<Key>::of(format)),
        reader_(reader),
        meter_(meter),
        ledger_(order.kind) {}

  CheckOutcome run(unsigned threads) {
    const io::Arena memory(threads * kBlockBytes, "checking");
    Failure failure;
    run_workers(threads, [&](unsigned worker) {
      try {
        const ByteSpan buffer = memory.bytes().subspan(worker * kBlockBytes, kBlockBytes);
        while (!failure.failed() && !found_disorder()) {
          const auto block = read_next(reader_, meter_, buffer);
          if (!block) return;
          look_at(block->position_bytes / sizeof(Key),
                  {reinterpret_cast<const Key*>(buffer.data()), block->bytes / sizeof(Key)});
        }
      } catch (...) {
        failure.capture();
      }
    });
    failure.rethrow();
    if (const auto& border = ledger_.disorder()) {
      note(border->position - border->position / (order_.array_elements + 1),
           map_.to_raw(static_cast<Key>(border->before)),
           map_.to_raw(static_cast<Key>(border->value)));
    }
    if (outcome_.in_order) outcome_.distinct -= ledger_.equal_borders();
    return outcome_;
  }

 private:
  bool found_disorder() {
    const std::scoped_lock lock(mutex_);
    return !outcome_.in_order || ledger_.disorder();
  }

  void look_at(std::uint64_t position, std::span<const Key> keys) {
    Span span(meter_, Stage::kProve);
    span.add_bytes(keys.size_bytes());
    const Fingerprint seen = fingerprint_of(std::as_bytes(keys), sizeof(Key));
    {
      const std::scoped_lock lock(mutex_);
      outcome_.fingerprint += seen;
      outcome_.elements += keys.size();
    }
    while (!keys.empty()) {
      const std::uint64_t left = order_.array_elements - position % order_.array_elements;
      const auto array = keys.first(std::min<std::uint64_t>(keys.size(), left));
      look_at_array(position, array);
      position += array.size();
      keys = keys.subspan(array.size());
    }
  }

  // At keys of one array. In the ledger arrays stand one position apart, and so never meet; whole
  // ones need no entry.
  void look_at_array(std::uint64_t position, std::span<const Key> keys) {
    std::size_t disorder = first_disorder<Key>(keys, map_);
    if (order_.kind == OrderKind::kStrict) disorder = std::min(disorder, first_repeat(keys));
    const std::uint64_t distinct = count_changes(keys) + 1;
    const std::scoped_lock lock(mutex_);
    outcome_.distinct += distinct;
    if (keys.size() < order_.array_elements) {
      const std::uint64_t begin = position + position / order_.array_elements;
      ledger_.add(begin, begin + keys.size(), map_.to_ordered(keys.front()),
                  map_.to_ordered(keys.back()));
    }
    if (disorder != keys.size()) note(position + disorder + 1, keys[disorder], keys[disorder + 1]);
  }

  // Keeps the disorder with the lowest position.
  void note(std::uint64_t element, Key before, Key value) {
    if (!outcome_.in_order && outcome_.disorder_element <= element) return;
    outcome_.in_order = false;
    outcome_.disorder_element = element;
    outcome_.value = text_of(value, format_);
    outcome_.value_before = text_of(before, format_);
  }

  KeyFormat format_;
  WantedOrder order_;
  KeyMap<Key> map_;
  io::Reader& reader_;
  Meter* meter_;
  std::mutex mutex_;
  CheckOutcome outcome_;
  OrderLedger<std::uint64_t> ledger_;
};

}  // namespace

CheckOutcome check_order(const KeyFormat& format, const WantedOrder& order, io::Reader& reader,
                         unsigned threads, Meter* meter) {
  if (meter != nullptr) meter->begin_phase(Phase::kRead, reader.known_size().value_or(0));
  return with_key_of_width(bytes_of(format.type), [&](auto width) {
    return OrderCheck<decltype(width)>(format, order, reader, meter).run(threads);
  });
}

}  // namespace gsort
