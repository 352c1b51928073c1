#include "pipeline/input/sorted_input.hpp"

#include <fmt/format.h>

#include "element/record_text.hpp"

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
  proof_.add_input(elements);
  check_order(elements);
  return bytes;
}

Error SortedInput::not_sorted(std::uint64_t element, const std::byte* before,
                              const std::byte* value) const {
  const std::string floats = order_of_floats(format_);
  return Error(ErrorKind::kInput, "merging",
               disorder_words(format_, false, element, text_of_keys(format_, value),
                              text_of_keys(format_, before)))
      .path(reader_.path_of(input_))
      .hint(
          fmt::format("--merge needs sorted inputs{}; without it gsort sorts them",
                      floats.empty() ? "" : fmt::format(", with floats in the order {}", floats)));
}

void SortedInput::check_order(ConstByteSpan elements) {
  const Span span(meter_, Stage::kProve);
  const std::size_t count = elements.size() / order_.element_bytes();
  if (!last_.empty() && order_.compare(elements.data(), last_.data()) < 0) {
    throw not_sorted(elements_, last_.data(), elements.data());
  }
  const std::size_t disorder = order_.first_disorder(elements);
  if (disorder != count) {
    const std::byte* const before = elements.data() + disorder * order_.element_bytes();
    throw not_sorted(elements_ + disorder + 1, before, before + order_.element_bytes());
  }
  elements_ += count;
  const ConstByteSpan last = elements.last(order_.element_bytes());
  last_.assign(last.begin(), last.end());
}

}  // namespace gsort
