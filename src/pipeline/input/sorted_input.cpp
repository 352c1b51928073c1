#include "pipeline/input/sorted_input.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"

namespace gsort {
namespace {

Error not_sorted(const std::string& path, std::uint64_t element) {
  return Error(ErrorKind::kInput, "merging",
               fmt::format("element {} is out of order", format_count(element)))
      .path(path)
      .hint("--merge needs sorted inputs; without it gsort sorts them");
}

}  // namespace

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

void SortedInput::check_order(ConstByteSpan elements) {
  const Span span(meter_, Stage::kProve);
  const std::size_t count = elements.size() / order_.element_bytes();
  if (!last_.empty() && order_.compare(elements.data(), last_.data()) < 0) {
    throw not_sorted(reader_.path_of(input_), elements_);
  }
  const std::size_t disorder = order_.first_disorder(elements);
  if (disorder != count) throw not_sorted(reader_.path_of(input_), elements_ + disorder + 1);
  elements_ += count;
  const ConstByteSpan last = elements.last(order_.element_bytes());
  last_.assign(last.begin(), last.end());
}

}  // namespace gsort
