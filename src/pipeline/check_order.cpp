#include "pipeline/check_order.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "element/record_text.hpp"
#include "engine/engine.hpp"
#include "engine/record_footprint.hpp"
#include "io/system/memory.hpp"
#include "pipeline/input/metered_read.hpp"
#include "pipeline/proof/element_order.hpp"
#include "pipeline/proof/order_ledger.hpp"
#include "pipeline/survey.hpp"

namespace gsort {
namespace {

// An element at the border of a block. Its key decides the order, its identity whether it differs
// from its neighbour: the key, for keys and if no two elements may share one; else the bytes.
struct Border {
  std::string key;
  std::string identity;
  std::string bytes;

  friend bool operator<(const Border& a, const Border& b) { return a.key < b.key; }
  friend bool operator==(const Border& a, const Border& b) { return a.identity == b.identity; }
};

// Checks elements, from `position` on; returns whether to continue.
using Look = std::function<bool(std::uint64_t position, ConstByteSpan elements)>;

// As many workers as the job may use read the input and check it, block by block.
void look_at_blocks(const Job& job, const ElementOrder& order, io::Reader& reader, Meter* meter,
                    const Look& look) {
  const unsigned threads = cores_for(job.resources.parallel);
  if (meter != nullptr) meter->begin_phase(Phase::kRead, reader.known_size().value_or(0));
  const std::uint64_t block_bytes =
      round_up(record_block_bytes(order.element_bytes(), 256 * kKiB), kBufferAlignment);
  const io::Arena memory(threads * block_bytes, "checking");
  Failure failure;
  run_workers(threads, [&](unsigned worker) {
    try {
      const ByteSpan buffer = memory.bytes().subspan(worker * block_bytes, block_bytes);
      while (!failure.failed()) {
        const auto block = read_next(reader, meter, buffer);
        if (!block) return;
        const ConstByteSpan elements = buffer.first(block->bytes);
        Span span(meter, Stage::kProve);
        span.add_bytes(elements.size());
        if (!look(block->position_bytes / order.element_bytes(), elements)) return;
      }
    } catch (...) {
      failure.capture();
    }
  });
  failure.rethrow();
  reader.check_unchanged();
}

class OrderCheck {
 public:
  explicit OrderCheck(const Job& job)
      : job_(job),
        format_(job.element),
        order_(format_),
        strict_(job.is_distinct()),
        array_elements_(job.array_elements > 0 ? job.array_elements : kMostFileBytes),
        ledger_(strict_ ? OrderKind::kStrict : OrderKind::kAscending) {}

  CheckOutcome run(io::Reader& reader, Meter* meter) {
    look_at_blocks(job_, order_, reader, meter, [&](auto position, ConstByteSpan elements) {
      look_at(position, elements);
      return !found_disorder();
    });
    if (const auto& border = ledger_.disorder()) {
      note(border->position - border->position / (array_elements_ + 1), as_bytes(border->before),
           as_bytes(border->value));
    }
    if (outcome_.in_order) outcome_.distinct -= ledger_.equal_borders();
    return outcome_;
  }

 private:
  static const std::byte* as_bytes(const Border& border) {
    return reinterpret_cast<const std::byte*>(border.bytes.data());
  }

  [[nodiscard]] Border border_of(const std::byte* element) const {
    std::string bytes(reinterpret_cast<const char*>(element), order_.element_bytes());
    std::string key = order_.normalised_key(element);
    std::string identity = strict_ || !order_.records() ? key : bytes;
    return {std::move(key), std::move(identity), std::move(bytes)};
  }

  bool found_disorder() {
    const std::scoped_lock lock(mutex_);
    return !outcome_.in_order || ledger_.disorder();
  }

  void look_at(std::uint64_t position, ConstByteSpan elements) {
    const std::size_t bytes = order_.element_bytes();
    const Fingerprint seen = order_.fingerprint(elements);
    {
      const std::scoped_lock lock(mutex_);
      outcome_.fingerprint += seen;
      outcome_.elements += seen.count;
    }
    while (!elements.empty()) {
      const std::uint64_t left = array_elements_ - position % array_elements_;
      const std::uint64_t count = std::min<std::uint64_t>(elements.size() / bytes, left);
      look_at_array(position, elements.first(count * bytes));
      position += count;
      elements = elements.subspan(count * bytes);
    }
  }

  // Checks elements of one array. In the ledger, arrays are one position apart, and so never meet;
  // whole ones need no entry.
  void look_at_array(std::uint64_t position, ConstByteSpan elements) {
    const std::size_t bytes = order_.element_bytes();
    const std::size_t count = elements.size() / bytes;
    const std::size_t disorder = order_.first_disorder(elements, strict_);
    const std::uint64_t distinct = order_.count_changes(elements) + 1;
    const std::scoped_lock lock(mutex_);
    outcome_.distinct += distinct;
    if (count < array_elements_) {
      const std::uint64_t begin = position + position / array_elements_;
      ledger_.add(begin, begin + count, border_of(elements.data()),
                  border_of(elements.data() + (count - 1) * bytes));
    }
    if (disorder == count) return;
    const std::byte* const before = elements.data() + disorder * bytes;
    note(position + disorder + 1, before, before + bytes);
  }

  // Keeps the disorder with the lowest position.
  void note(std::uint64_t element, const std::byte* before, const std::byte* value) {
    if (!outcome_.in_order && outcome_.disorder_element <= element) return;
    outcome_.in_order = false;
    outcome_.disorder_element = element;
    outcome_.value = text_of_keys(format_, value);
    outcome_.value_before = text_of_keys(format_, before);
  }

  const Job& job_;
  const ElementFormat& format_;
  const ElementOrder order_;
  const bool strict_;  // no two elements may share a key
  const std::uint64_t array_elements_;
  std::mutex mutex_;
  CheckOutcome outcome_;
  OrderLedger<Border> ledger_;
};

}  // namespace

CheckOutcome check_order(const Job& job, io::Reader& reader, Meter* meter) {
  return OrderCheck(job).run(reader, meter);
}

Fingerprint fingerprint_of_input(const Job& job, io::Reader& reader, Meter* meter) {
  const ElementOrder order(job.element);
  std::mutex mutex;
  Fingerprint total;
  look_at_blocks(job, order, reader, meter, [&](std::uint64_t, ConstByteSpan elements) {
    const Fingerprint seen = order.fingerprint(elements);
    const std::scoped_lock lock(mutex);
    total += seen;
    return true;
  });
  return total;
}

}  // namespace gsort
