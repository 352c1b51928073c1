#include "io/writer.hpp"

#include <algorithm>
#include <vector>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using test::bytes_of;
using test::error_of;
using test::read_file;
using test::TempFolder;
using test::write_file;

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
  options.slice_elements = 1000;
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

}  // namespace
}  // namespace gsort::io
