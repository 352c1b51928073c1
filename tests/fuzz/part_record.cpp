// Records of parts: any text is refused, or is what encoding gives for what it says, with numbers
// that can be; also with the checksum made right, without which hardly any text would come so far.
#include "pipeline/share/part_record.hpp"

#include <cstdint>
#include <string>

#include <xxhash.h>

#include "fuzz/require.hpp"

namespace {

using gsort::fuzz::require;

void parse_and_write_again(const std::string& text) {
  const auto record = gsort::parse_part(text);
  if (!record) return;
  require(gsort::encode_part(*record) == text);
  require(record->part < record->parts);
  require(record->begin <= record->end && record->end <= record->elements);
  require(record->output.count <= record->elements && record->repeats.count <= record->elements);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  parse_and_write_again(text);
  const std::string covered = text.substr(0, text.rfind(' ') + 1);
  parse_and_write_again(covered + std::to_string(XXH3_64bits(covered.data(), covered.size())) +
                        '\n');
  return 0;
}
