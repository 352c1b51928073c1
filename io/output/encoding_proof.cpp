#include "io/output/encoding_proof.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "element/value.hpp"
#include "io/codecs/decompress.hpp"

namespace gsort::io {
namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{8}
                                     << 10;  // of keys: they and their lines stay in the cache

// A member as a decoder reads it.
class MemberStream final : public ByteStream {
 public:
  explicit MemberStream(ConstByteSpan rest) : rest_(rest) {}
  std::size_t read(ByteSpan to) override {
    const std::size_t bytes = std::min(to.size(), rest_.size());
    std::ranges::copy(rest_.first(bytes), to.begin());
    rest_ = rest_.subspan(bytes);
    return bytes;
  }

 private:
  ConstByteSpan rest_;
};

template <class Value>
Value value_at(ConstByteSpan raw_keys, std::size_t at, bool swaps_bytes) {
  KeyOf<Value> key{};
  std::memcpy(&key, raw_keys.data() + at, sizeof(key));
  return std::bit_cast<Value>(swaps_bytes ? swap_bytes(key) : key);
}

bool are_equal(ConstByteSpan one, ConstByteSpan other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0;
}

// Except for the payload of a NaN.
template <class Value>
bool are_same(ConstByteSpan keys, ConstByteSpan others, bool swaps_bytes) {
  if (are_equal(keys, others)) return true;
  if constexpr (kIsFloat<Value>) {
    for (std::size_t at = 0; at < keys.size(); at += sizeof(Value)) {
      if (std::memcmp(keys.data() + at, others.data() + at, sizeof(Value)) == 0) continue;
      const auto key = printable(value_at<Value>(keys, at, swaps_bytes));
      const auto other = printable(value_at<Value>(others, at, swaps_bytes));
      const bool are_nans = std::isnan(key) && std::isnan(other);
      if (!are_nans || std::signbit(key) != std::signbit(other)) return false;
    }
    return true;
  }
  return false;
}

template <class Value>
bool lines_read_back(std::string_view text, ConstByteSpan raw_keys, const KeyFormat& format) {
  const std::size_t key_bytes = bytes_of(format);
  std::array<std::byte, kBytesAtOnce> read;  // NOLINT: all of it that is used is written first
  const ByteSpan keys = ByteSpan(read).first(raw_keys.size());
  const bool whole_lines =
      text.ends_with('\n') && count_newlines(text) == raw_keys.size() / key_bytes;
  const bool has_blanks = text.find_first_of(" \t\r") != std::string_view::npos;  // never written
  return whole_lines && !has_blanks && !parse_lines(text, format, keys) &&
         are_same<Value>(raw_keys, keys, format.big_endian);
}

}  // namespace

Error encoded_otherwise(std::string_view form) {
  return Error(ErrorKind::kCorrupt, fmt::format("checking the output encoded as {}", form),
               "decoding it does not give the sorted elements back")
      .hint("memory or a library corrupted it; it was not written, the input is unchanged");
}

bool reads_back(std::string_view text, ConstByteSpan raw_keys, const KeyFormat& format) {
  return with_value_of_type(format.type, [&](auto value) {
    return lines_read_back<decltype(value)>(text, raw_keys, format);
  });
}

std::size_t format_proven(LineFormatter formatter, ConstByteSpan raw_keys, const KeyFormat& format,
                          char* out) {
  char* at = out;
  const std::size_t most = round_down(kBytesAtOnce, bytes_of(format));
  while (!raw_keys.empty()) {
    const ConstByteSpan keys = raw_keys.first(std::min(raw_keys.size(), most));
    const std::size_t bytes = formatter(keys, format, at);
    if (!reads_back({at, bytes}, keys, format)) throw encoded_otherwise(name_of(FileFormat::kText));
    at += bytes;
    raw_keys = raw_keys.subspan(keys.size());
  }
  return static_cast<std::size_t>(at - out);
}

void require_decompresses(Codec codec, ConstByteSpan member, ConstByteSpan content,
                          ByteSpan scratch) {
  MemberStream stream(member);
  const auto decoder = make_decoder(codec, stream, "the output");
  try {
    while (const std::size_t bytes = decoder->read(scratch)) {
      const ConstByteSpan wanted = content.first(std::min(bytes, content.size()));
      if (!are_equal(scratch.first(bytes), wanted)) throw encoded_otherwise(name_of(codec));
      content = content.subspan(bytes);
    }
  } catch (const Error&) {  // the decoder finds it damaged, or too large
    throw encoded_otherwise(name_of(codec));
  }
  if (!content.empty()) throw encoded_otherwise(name_of(codec));
}

}  // namespace gsort::io
