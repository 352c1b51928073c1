#include "pipeline/output/parts_sink.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using io::test::read_file;
using Keys = std::vector<std::uint32_t>;

Keys numbers(std::size_t count) {
  Keys keys(count);
  std::iota(keys.begin(), keys.end(), 0U);
  return keys;
}

io::WriterOptions options() {
  io::WriterOptions options;
  options.element_bytes = sizeof(std::uint32_t);
  options.key.type = KeyType::kU32;
  options.encoders = 1;
  return options;
}

std::vector<io::Output> new_outputs(const io::test::TempFolder& folder, std::size_t parts) {
  std::vector<io::Output> outputs;
  for (std::size_t part = 0; part < parts; ++part) {
    outputs.emplace_back(folder / std::to_string(part),
                         io::OutputOptions{io::DirectIo::kAuto, true});
  }
  return outputs;
}

ConstByteSpan bytes_of(std::span<const std::uint32_t> keys) {
  return std::as_bytes(keys);
}

TEST(PartsSink, CutsPiecesWhereverPartsEnd) {
  for (const std::size_t count : {0U, 1U, 5U, 1'000U, 10'007U}) {
    for (const std::size_t parts : {2U, 3U, 16U}) {
      for (const std::size_t piece_keys : {1U, 7U, 400U, 20'000U}) {
        SCOPED_TRACE(testing::Message() << count << " in " << parts << " by " << piece_keys);
        const io::test::TempFolder folder;
        std::vector<io::Output> outputs = new_outputs(folder, parts);
        const Keys keys = numbers(count);
        PartsSink sink(outputs, options(), nullptr);
        sink.begin(count, {});
        for_each_number(3, div_up(count, piece_keys), [&](unsigned, std::uint64_t piece) {
          const std::size_t at = piece * piece_keys;
          sink.put(at, bytes_of(std::span(keys).subspan(at, std::min(piece_keys, count - at))));
        });
        EXPECT_TRUE(folder.entries().empty());
        sink.commit(count);
        std::size_t begin = 0;
        for (std::size_t part = 0; part < parts; ++part) {
          const std::size_t size = count / parts + (part < count % parts ? 1 : 0);
          const auto want = bytes_of(std::span(keys).subspan(begin, size));
          EXPECT_TRUE(std::ranges::equal(read_file(folder / std::to_string(part)), want)) << part;
          begin += size;
        }
      }
    }
  }
}

TEST(PartsSink, LeavesNoPartWhereOneCannotAppear) {
  const io::test::TempFolder folder;
  std::vector<io::Output> outputs = new_outputs(folder, 3);
  const Keys keys = numbers(30);
  PartsSink sink(outputs, options(), nullptr);
  sink.begin(30, {});
  sink.put(0, bytes_of(keys));
  io::test::write_file(folder / "1", io::test::bytes_of("somebody else's"));
  const Error error = io::test::error_of([&] { sink.commit(30); });
  EXPECT_EQ(error.path(), folder / "1") << error.what();
  EXPECT_EQ(read_file(folder / "1"), io::test::bytes_of("somebody else's"));
  EXPECT_EQ(folder.entries().size(), 1U);
}

TEST(PartsSink, FailsWhereElementsAreMissingOrComeTwice) {
  const Keys keys = numbers(30);
  for (const std::size_t again : {0U, 10U, 29U}) {
    const io::test::TempFolder folder;
    std::vector<io::Output> outputs = new_outputs(folder, 3);
    PartsSink sink(outputs, options(), nullptr);
    sink.begin(30, {});
    const Error error = io::test::error_of([&] {
      sink.put(0, bytes_of(std::span(keys).first(30)));
      sink.put(again, bytes_of(std::span(keys).subspan(again, 1)));
      sink.commit(30);
    });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
    EXPECT_TRUE(folder.entries().empty());
  }
  const io::test::TempFolder folder;
  std::vector<io::Output> outputs = new_outputs(folder, 3);
  PartsSink sink(outputs, options(), nullptr);
  sink.begin(30, {});
  sink.put(0, bytes_of(std::span(keys).first(29)));
  EXPECT_EQ(io::test::error_of([&] { sink.commit(30); }).kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(folder.entries().empty());
}

}  // namespace
}  // namespace gsort
