// Any text, read as keys of any type: no byte outside is touched; and lines that are read are, once
// written, read as the same keys again. The first byte says which type.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "form/decimal.hpp"
#include "fuzz/require.hpp"

namespace {

using gsort::KeyFormat;

// Exactly the memory that the contract asks for, so that the sanitizer sees what goes beyond it.
std::vector<char> with_slack(const std::string& text) {
  std::vector<char> room(text.size() + gsort::kTextSlack, 'x');
  std::copy(text.begin(), text.end(), room.begin());
  return room;
}

void read_and_write(const std::string& text, const KeyFormat& format) {
  const std::vector<char> given = with_slack(text);
  const std::string_view lines(given.data(), text.size());
  const std::size_t key_bytes = gsort::bytes_of(format.type);
  std::vector<std::byte> keys(gsort::count_newlines(lines) * key_bytes);
  if (gsort::parse_lines(lines, format, keys)) return;
  std::vector<char> written(keys.size() / key_bytes * gsort::most_line_bytes(format.type) +
                            gsort::kTextSlack);
  const std::size_t bytes = gsort::format_lines(keys, format, written.data());
  const std::vector<char> again = with_slack(std::string(written.data(), bytes));
  std::vector<std::byte> keys_again(keys.size());
  gsort::fuzz::require(!gsort::parse_lines({again.data(), bytes}, format, keys_again));
  // Text has one NaN of each sign only.
  gsort::fuzz::require(is_float(format.type) || keys == keys_again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const KeyFormat format{gsort::kAllKeyTypes[data[0] % std::size(gsort::kAllKeyTypes)],
                         (data[0] & 0x80U) != 0, false};
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  text += '\n';
  read_and_write(text, format);
  return 0;
}
