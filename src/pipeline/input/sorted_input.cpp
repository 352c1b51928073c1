#include "pipeline/input/sorted_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/units.hpp"
#include "element/counted_keys.hpp"
#include "element/record_text.hpp"
#include "form/counted_lines.hpp"

namespace gsort {
std::size_t SortedInput::read(ByteSpan to) {
  std::size_t bytes = 0;
  {
    Span span(meter_, Stage::kRead);
    bytes = reader_.next_of(input_, to);
    span.add_bytes(bytes);
  }
  if (bytes == 0) return 0;
  const ConstByteSpan elements = to.first(bytes);
  if (has_counts()) {
    add_counted(elements);
  } else {
    proof_.add_input(elements);
  }
  check_order(elements);
  return bytes;
}

void SortedInput::add_counted(ConstByteSpan pairs) {
  constexpr std::size_t kMostPairs = std::size_t{4} << 10;
  const std::size_t key_bytes = format_.bytes();
  const std::size_t pair_bytes = order_.element_bytes();
  std::vector<std::byte> keys;
  std::vector<std::uint64_t> counts;
  for (std::uint64_t element = elements_; !pairs.empty(); element += counts.size()) {
    counts.resize(std::min(pairs.size() / pair_bytes, kMostPairs));
    keys.resize(counts.size() * key_bytes);
    split_counts(pairs, key_bytes, format_.key.big_endian, keys.data(), counts);
    if (const auto none = std::ranges::find(counts, 0); none != counts.end()) {
      const auto number = element + static_cast<std::uint64_t>(none - counts.begin());
      throw Error(ErrorKind::kInput, "merging counts",
                  fmt::format("element {} has the count 0", format_count(number)))
          .path(reader_.path_of(input_))
          .hint(kCountsHint);
    }
    proof_.add_counted_input({keys, key_bytes, counts});
    pairs = pairs.subspan(counts.size() * pair_bytes);
  }
}

Error SortedInput::not_sorted(std::uint64_t element, const std::byte* before,
                              const std::byte* value) const {
  const std::string floats = order_of_floats(format_);
  const std::string hint =
      has_counts()
          ? kCountsHint
          : fmt::format("--merge needs sorted inputs{}; without it gsort sorts them",
                        floats.empty() ? "" : fmt::format(", with floats in the order {}", floats));
  return Error(ErrorKind::kInput, "merging",
               disorder_words(format_, has_counts(), element, text_of_keys(format_, value),
                              text_of_keys(format_, before)))
      .path(reader_.path_of(input_))
      .hint(hint);
}

void SortedInput::check_order(ConstByteSpan elements) {
  const Span span(meter_, Stage::kProve);
  const std::size_t count = elements.size() / order_.element_bytes();
  const bool strict = has_counts();
  if (!last_.empty() && order_.compare(elements.data(), last_.data()) < (strict ? 1 : 0)) {
    throw not_sorted(elements_, last_.data(), elements.data());
  }
  const std::size_t disorder = order_.first_disorder(elements, strict);
  if (disorder != count) {
    const std::byte* const before = elements.data() + disorder * order_.element_bytes();
    throw not_sorted(elements_ + disorder + 1, before, before + order_.element_bytes());
  }
  elements_ += count;
  const ConstByteSpan last = elements.last(order_.element_bytes());
  last_.assign(last.begin(), last.end());
}

}  // namespace gsort
