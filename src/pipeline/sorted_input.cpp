#include "pipeline/sorted_input.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/key_loops.hpp"
#include "base/units.hpp"

namespace gsort {
namespace {

Error not_sorted(const std::string& path, std::uint64_t element) {
  return Error(ErrorKind::kInput, "merging",
               fmt::format("element {} is out of order", format_count(element)))
      .path(path)
      .hint("--merge takes sorted inputs; without it everything is sorted");
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
  const ConstByteSpan keys = to.first(bytes);
  proof_.add_input(keys);
  check_order(keys);
  return bytes;
}

void SortedInput::check_order(ConstByteSpan raw_keys) {
  const Span span(meter_, Stage::kProve);
  with_key_of_width(bytes_of(format_.type), [&](auto width) {
    using Key = decltype(width);
    const std::span<const Key> keys(reinterpret_cast<const Key*>(raw_keys.data()),
                                    raw_keys.size() / sizeof(Key));
    const auto map = KeyMap<Key>::of(format_);
    if (elements_ > 0 && map.to_ordered(keys.front()) < last_) {
      throw not_sorted(reader_.path_of(input_), elements_);
    }
    const std::size_t disorder = first_disorder<Key>(keys, map);
    if (disorder != keys.size()) {
      throw not_sorted(reader_.path_of(input_), elements_ + disorder + 1);
    }
    elements_ += keys.size();
    last_ = map.to_ordered(keys.back());
  });
}

}  // namespace gsort
