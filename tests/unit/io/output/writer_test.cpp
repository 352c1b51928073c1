#include "io/output/writer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::uint32_t>(7 * i);
  return all;
}

WriterOptions options_of(FileFormat format, Codec codec) {
  WriterOptions options;
  options.form = {format, codec, codec == Codec::kNone ? 0 : levels_of(codec).usual};
  options.key = {KeyType::kU32, false, false};
  options.element_bytes = 4;
  options.frame_elements = 1000;
  options.threads = 2;
  return options;
}

constexpr std::uint64_t kKeys = 10'000;

struct Stretch {
  std::uint64_t begin;
  std::uint64_t end;
};

// Puts stretches of the numbers over an old output, as `elements` elements.
void write(const std::string& path, const WriterOptions& options,
           const std::vector<Stretch>& stretches, std::uint64_t elements = kKeys,
           bool is_known = true) {
  const auto keys = numbers(2 * kKeys);
  Output output(path);
  Writer writer(output, options);
  writer.begin(is_known ? std::optional(elements) : std::nullopt, {});
  for (const auto [begin, end] : stretches) {
    writer.put(begin, std::as_bytes(std::span(keys).subspan(begin, end - begin)));
  }
  writer.commit(elements);
}

const std::vector<WriterOptions>& forms() {
  static const std::vector<WriterOptions> all = {
      options_of(FileFormat::kBinary, Codec::kNone), options_of(FileFormat::kNpy, Codec::kNone),
      options_of(FileFormat::kText, Codec::kNone), options_of(FileFormat::kBinary, Codec::kZstd),
      options_of(FileFormat::kText, Codec::kGzip)};
  return all;
}

// A piece that waits for one that never comes is the pipeline's to end: these do not wait.
TEST(Writer, MakesNoOutputWhereNotEveryElementWasPutOnce) {
  const TempFolder folder;
  const std::vector<std::vector<Stretch>> lies = {
      {},
      {{0, 9999}},
      {{0, 5000}},
      {{0, 10'001}},
      {{0, 5000}, {0, 5000}},
      {{0, 5000}, {4999, 9999}},
      {{0, 5000}, {4000, 4500}, {5000, 10'000}},
      {{0, 10'000}, {9999, 10'000}},
      {{0, 10'000}, {0, 1}},
  };
  for (const WriterOptions& options : forms()) {
    for (std::size_t lie = 0; lie < lies.size(); ++lie) {
      SCOPED_TRACE(std::string(name_of(options.form.format)) + " " + std::to_string(lie));
      write_file(folder / "out", bytes_of("old"));
      const Error error = error_of([&] { write(folder / "out", options, lies[lie]); });
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
      EXPECT_EQ(read_file(folder / "out"), bytes_of("old"));
    }
  }
}

TEST(Writer, WritesTheHeaderOfAnArrayOnce) {
  const TempFolder folder;
  const WriterOptions options = options_of(FileFormat::kNpy, Codec::kNone);
  write(folder / "known", options, {{0, 4000}, {4000, kKeys}});
  write(folder / "unknown", options, {{0, 4000}, {4000, kKeys}}, kKeys, false);
  EXPECT_EQ(read_file(folder / "unknown"), read_file(folder / "known"));
}

TEST(Writer, ProvesWhatItEncodesAndChangesNothingOfIt) {
  const TempFolder folder;
  for (WriterOptions options : forms()) {
    write(folder / "out", options, {{0, 4000}, {4000, kKeys}});
    options.is_proven = true;
    write(folder / "proven", options, {{0, 4000}, {4000, kKeys}});
    EXPECT_EQ(read_file(folder / "proven"), read_file(folder / "out"));
  }
}

// Formatters and compressors that go wrong in one frame of many.
bool holds_key(ConstByteSpan raw_keys, std::uint32_t key) {
  for (std::size_t at = 0; at + 4 <= raw_keys.size(); at += 4) {
    if (std::memcmp(raw_keys.data() + at, &key, 4) == 0) return true;
  }
  return false;
}
constexpr std::uint32_t kBadKey = 7 * 5555;

std::size_t changes_a_digit(ConstByteSpan keys, const KeyFormat& format, char* out) {
  const std::size_t bytes = format_lines(keys, format, out);
  if (holds_key(keys, kBadKey)) out[0] = static_cast<char>(out[0] ^ 1);
  return bytes;
}

std::size_t drops_a_line(ConstByteSpan keys, const KeyFormat& format, char* out) {
  return format_lines(holds_key(keys, kBadKey) ? keys.subspan(4) : keys, format, out);
}

std::size_t writes_a_line_twice(ConstByteSpan keys, const KeyFormat& format, char* out) {
  if (!holds_key(keys, kBadKey)) return format_lines(keys, format, out);
  const std::size_t bytes = format_lines(keys.first(4), format, out);
  return bytes + format_lines(keys, format, out + bytes);
}

std::size_t joins_two_lines(ConstByteSpan keys, const KeyFormat& format, char* out) {
  const std::size_t bytes = format_lines(keys, format, out);
  if (holds_key(keys, kBadKey)) *std::find(out, out + bytes, '\n') = '0';
  return bytes;
}

TEST(Writer, FindsAFormatterThatGoesWrong) {
  const TempFolder folder;
  for (const LineFormatter formatter :
       {changes_a_digit, drops_a_line, writes_a_line_twice, joins_two_lines}) {
    WriterOptions options = options_of(FileFormat::kText, Codec::kNone);
    options.is_proven = true;
    options.formatter = formatter;
    write_file(folder / "out", bytes_of("old"));
    const Error error = error_of([&] { write(folder / "out", options, {{0, kKeys}}); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(read_file(folder / "out"), bytes_of("old"));
  }
}

void compresses_something_else(Codec codec, int level, ConstByteSpan from, Bytes& to) {
  Bytes other(from.begin(), from.end());
  if (holds_key(from, kBadKey)) other.back() ^= std::byte{1};
  compress(codec, level, other, to);
}

void cuts_the_end_off(Codec codec, int level, ConstByteSpan from, Bytes& to) {
  compress(codec, level, from, to);
  if (holds_key(from, kBadKey)) to.resize(to.size() - 1);
}

void gives_it_twice(Codec codec, int level, ConstByteSpan from, Bytes& to) {
  compress(codec, level, from, to);
  if (holds_key(from, kBadKey)) compress(codec, level, from, to);
}

void gives_nothing(Codec codec, int level, ConstByteSpan from, Bytes& to) {
  if (!holds_key(from, kBadKey)) compress(codec, level, from, to);
}

TEST(Writer, FindsACompressorThatGoesWrong) {
  const TempFolder folder;
  for (const Codec codec : kAllCodecs) {
    for (const Compressor compressor :
         {compresses_something_else, cuts_the_end_off, gives_it_twice, gives_nothing}) {
      WriterOptions options = options_of(FileFormat::kBinary, codec);
      options.is_proven = true;
      options.compressor = compressor;
      write_file(folder / "out", bytes_of("old"));
      const Error error = error_of([&] { write(folder / "out", options, {{0, kKeys}}); });
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
      EXPECT_EQ(read_file(folder / "out"), bytes_of("old"));
    }
  }
}

}  // namespace
}  // namespace gsort::io
