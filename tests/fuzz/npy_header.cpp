// Any bytes, read as the header of an array: an Error, or a header whose array can exist.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "form/byte_stream.hpp"
#include "form/npy.hpp"
#include "fuzz/require.hpp"

namespace {

class Bytes final : public gsort::io::ByteStream {
 public:
  explicit Bytes(gsort::ConstByteSpan bytes) : bytes_(bytes) {}
  std::size_t read(gsort::ByteSpan to) override {
    const std::size_t count = std::min(to.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, to.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  gsort::ConstByteSpan bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(std::as_bytes(std::span(data, size)));
  try {
    const gsort::io::NpyHeader header = gsort::io::read_npy_header(bytes, "fuzzed");
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    gsort::fuzz::require(header.array.key || header.array.records);
    gsort::fuzz::require(header.array.element_bytes() > 0);
    gsort::fuzz::require(header.elements <= most / header.array.element_bytes());
    gsort::fuzz::require(header.header_bytes <= size);
    const std::uint64_t row = header.array.row_elements;
    gsort::fuzz::require(row == 0 || header.elements % row == 0);
  } catch (const gsort::Error& error) {
    gsort::fuzz::require(!error.hint().empty());
  }
  return 0;
}
