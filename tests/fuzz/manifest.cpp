// Manifests of sorts that can be resumed and of shares, and indexes of runs. Any bytes are refused
// with a reason, or are what encoding gives for what they say; also with the checksum made right,
// without which hardly any bytes would come so far. Nothing outside the bytes is read.
#include "io/runs/manifest.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include <xxhash.h>

#include "base/error.hpp"
#include "form/valid_format.hpp"
#include "fuzz/require.hpp"
#include "options/share_options.hpp"

namespace {

using gsort::ConstByteSpan;
using gsort::fuzz::require;
using gsort::io::BlockEntry;
using gsort::io::Manifest;

// As --take reads them of a share: elements that can be, or an Error.
void read_elements(const Manifest& manifest) {
  if (!manifest.share) return;
  try {
    const gsort::ElementFormat element =
        gsort::element_of_job(manifest.job, manifest.element_bytes);
    require(gsort::is_valid(element) && element.bytes() == manifest.element_bytes);
  } catch (const gsort::Error& error) {
    require(!error.hint().empty());
  }
}

void parse_and_write_again(const std::vector<std::byte>& bytes) {
  Manifest manifest;
  if (!gsort::io::parse_manifest(bytes, manifest).empty()) return;
  require(gsort::io::encode_manifest(manifest) == bytes);
  read_elements(manifest);
}

// The size and the checksum are put right: what stands between them is the fuzzer's.
void check_manifest(ConstByteSpan given) {
  std::vector<std::byte> bytes(given.begin(), given.end());
  parse_and_write_again(bytes);
  constexpr std::size_t kSizeAt = 8;
  constexpr std::size_t kLeastBytes = 72;
  if (bytes.size() < kLeastBytes) return;
  const std::uint64_t size = bytes.size();
  std::memcpy(bytes.data() + kSizeAt, &size, sizeof(size));
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), size - sizeof(checksum));
  std::memcpy(bytes.data() + size - sizeof(checksum), &checksum, sizeof(checksum));
  parse_and_write_again(bytes);
}

void check_index(ConstByteSpan given, std::uint64_t end_bytes) {
  const std::vector<std::byte> bytes(given.begin(), given.end());
  const gsort::io::IndexBounds bounds{end_bytes, 65536};
  std::vector<BlockEntry> blocks;
  if (!gsort::io::parse_index(bytes, bounds, blocks).empty()) return;
  require(gsort::io::encode_index(blocks) == bytes);
  for (const BlockEntry& block : blocks) {
    require(block.stored_bytes <= bounds.most_stored_bytes);
    require(block.offset <= end_bytes && block.stored_bytes <= end_bytes - block.offset);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t end_bytes = 0;
  const ConstByteSpan bytes = std::as_bytes(std::span(data, size));
  check_manifest(bytes);
  if (size < sizeof(end_bytes)) return 0;
  std::memcpy(&end_bytes, data, sizeof(end_bytes));
  check_index(bytes.subspan(sizeof(end_bytes)), end_bytes);
  return 0;
}
