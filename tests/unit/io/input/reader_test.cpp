#include "io/input/reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "base/parallel.hpp"
#include "form/npy.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// Everything the reader gives, put together by position, read by `threads` threads.
Bytes read_all(Reader& reader, std::size_t buffer_bytes, unsigned threads = 1) {
  Bytes all;
  std::mutex mutex;
  run_workers(threads, [&](unsigned) {
    const Arena buffer(buffer_bytes, "tests");
    while (const auto block = reader.next(buffer.bytes())) {
      const std::lock_guard lock(mutex);
      all.resize(std::max(all.size(), block->position_bytes + block->bytes));
      std::copy_n(buffer.data(), block->bytes,
                  all.begin() + static_cast<long>(block->position_bytes));
    }
  });
  return all;
}

class ReaderOf : public testing::TestWithParam<DirectIo> {
 protected:
  [[nodiscard]] ReaderOptions options(std::size_t element_bytes) const {
    return {.element_bytes = element_bytes, .way = {GetParam()}};
  }
  const TempFolder folder_;
};
std::string name_of(const testing::TestParamInfo<DirectIo>& policy) {
  constexpr std::array kNames = {"Auto", "Direct", "Cached"};
  return kNames.at(static_cast<std::size_t>(policy.param));
}

INSTANTIATE_TEST_SUITE_P(Policies, ReaderOf,
                         testing::Values(DirectIo::kAuto, DirectIo::kOn, DirectIo::kOff), name_of);

TEST_P(ReaderOf, GivesEveryByteOnceOverSizesAndBuffers) {
  for (const std::size_t size : {0U, 8U, 4096U, 4104U, 8192U, 100'000U}) {
    const Bytes data = random_bytes(size, size);
    write_file(folder_ / "f", data);
    for (const std::size_t buffer : {8U, 1000U, 4096U, 65536U, 1U << 20}) {
      for (const unsigned threads : {1U, 3U}) {
        Reader reader({folder_ / "f"}, options(8));
        EXPECT_EQ(reader.known_size(), size);
        EXPECT_EQ(read_all(reader, buffer, threads), data) << size << " " << buffer;
        EXPECT_TRUE(reader.at_end());
        EXPECT_EQ(reader.position(), size);
        reader.check_unchanged();
      }
    }
  }
}

TEST_P(ReaderOf, BeginsAgainWithTheFirstByte) {
  const Bytes a = random_bytes(40'000, 1);
  const Bytes b = random_bytes(8'000, 2);
  write_file(folder_ / "a", a);
  write_file(folder_ / "b", b);
  Bytes both = a;
  both.insert(both.end(), b.begin(), b.end());
  Reader reader({folder_ / "a", folder_ / "b"}, options(8));
  reader.end_at(44'000);
  EXPECT_EQ(read_all(reader, 4096), Bytes(both.begin(), both.begin() + 44'000));
  ASSERT_TRUE(reader.rewind());
  EXPECT_EQ(reader.position(), 0U);
  EXPECT_EQ(read_all(reader, 4096, 3), both);
  reader.check_unchanged();
}

TEST_P(ReaderOf, JoinsSeveralFiles) {
  Bytes all;
  std::vector<std::string> paths;
  for (const std::size_t size : {40'000U, 0U, 4U, 4096U, 12'345U * 4}) {
    const Bytes data = random_bytes(size, size);
    paths.push_back(folder_ / std::to_string(size));
    write_file(paths.back(), data);
    all.insert(all.end(), data.begin(), data.end());
  }
  for (const std::size_t buffer : {4096U, 10'000U, 1U << 20}) {
    Reader reader(paths, options(4));
    EXPECT_EQ(reader.known_size(), all.size());
    EXPECT_EQ(read_all(reader, buffer, 2), all);
  }
}

TEST_P(ReaderOf, StopsAtALimitAndGoesOnBehindIt) {
  const Bytes data = random_bytes(100'000);
  write_file(folder_ / "f", data);
  Reader reader({folder_ / "f"}, options(4));
  const Arena buffer(16384, "tests");
  Bytes all;
  for (std::uint64_t limit = 0; limit <= 130'000; limit += 30'004) {
    while (const auto block = reader.next(buffer.bytes(), limit)) {
      EXPECT_EQ(block->position_bytes, all.size());
      all.insert(all.end(), buffer.data(), buffer.data() + block->bytes);
    }
    EXPECT_EQ(all.size(), std::min<std::uint64_t>(limit, data.size()));
    EXPECT_EQ(reader.at_end(), all.size() == data.size());
  }
  EXPECT_EQ(all, data);
}

TEST_P(ReaderOf, SamplesOtherPlacesEachTime) {
  std::vector<std::uint32_t> numbers(1'000'000);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  write_file(folder_ / "f", std::as_bytes(std::span(numbers)));
  Reader reader({folder_ / "f"}, options(4));
  const auto draw = [&] {
    std::vector<std::uint32_t> sample(65'536);
    const auto bytes = std::as_writable_bytes(std::span(sample));
    EXPECT_EQ(reader.sample(bytes, 400, 4 * 999'900, Places::kAnywhere), bytes.size());
    return sample;
  };
  const auto sample = draw();
  EXPECT_NE(sample, draw());
  EXPECT_GE(*std::ranges::min_element(sample), 100U);
  EXPECT_LT(*std::ranges::max_element(sample), 999'900U);
  for (std::uint32_t tenth = 0; tenth < 10; ++tenth) {
    const auto seen = std::ranges::count_if(sample, [&](auto n) { return n / 100'000 == tenth; });
    EXPECT_GT(seen, 4'000) << "four places of 1,024 at least";
    EXPECT_LT(seen, 9'300);
  }
}

TEST_P(ReaderOf, SamplesTheWholeRangeAndTakesNothing) {
  std::vector<std::uint32_t> numbers(1'000'000);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  write_file(folder_ / "f", std::as_bytes(std::span(numbers).first(400'000)));
  write_file(folder_ / "g", std::as_bytes(std::span(numbers).subspan(400'000)));
  Reader reader({folder_ / "f", folder_ / "g"}, options(4));
  for (const std::size_t count : {1U, 100U, 1024U, 5000U, 100'000U}) {
    std::vector<std::uint32_t> sample(count);
    const std::size_t bytes =
        reader.sample(std::as_writable_bytes(std::span(sample)), 400, 4 * 999'900);
    ASSERT_GT(bytes, count * 3);
    ASSERT_EQ(bytes % 4, 0U);
    sample.resize(bytes / 4);
    EXPECT_EQ(sample.front(), 100U);
    EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
    EXPECT_EQ(std::adjacent_find(sample.begin(), sample.end()), sample.end());
    if (count >= 5000) {
      EXPECT_EQ(sample.back(), 999'899U);
    }
  }
  std::array<std::byte, 8> small{};
  EXPECT_EQ(reader.sample(small, 8, 8), 0U);
  EXPECT_EQ(reader.sample(small, 8, 12), 4U);
  EXPECT_EQ(reader.position(), 0U);
}

TEST_P(ReaderOf, NoticesAFileThatGotShorter) {
  write_file(folder_ / "f", random_bytes(100'000));
  Reader reader({folder_ / "f"}, options(4));
  ASSERT_EQ(::truncate((folder_ / "f").c_str(), 50'000), 0);
  const Arena buffer(1 << 20, "tests");
  const Error error = error_of([&] { (void)reader.next(buffer.bytes()); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.offset_bytes(), 50'000U);
  EXPECT_TRUE(contains(error.what(), "became shorter while it was read"));
  EXPECT_TRUE(contains(error_of([&] { reader.check_unchanged(); }).what(), "shorter"));
}

TEST_P(ReaderOf, NoticesAFileThatGrewOrWasWrittenTo) {
  write_file(folder_ / "f", random_bytes(1000));
  Reader grown({folder_ / "f"}, options(4));
  write_file(folder_ / "f", random_bytes(2000));
  EXPECT_TRUE(contains(error_of([&] { grown.check_unchanged(); }).what(), "grew"));
  Reader touched({folder_ / "f"}, options(4));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  write_file(folder_ / "f", random_bytes(2000, 9));
  EXPECT_TRUE(contains(error_of([&] { touched.check_unchanged(); }).what(), "written to"));
}

TEST_P(ReaderOf, HidesShortAndInterruptedReadsAndReportsOthers) {
  const Bytes data = random_bytes(64 * 4096);
  write_file(folder_ / "f", data);
  for (const int error_number : {0, EINTR, EIO}) {
    for (std::uint64_t nth = 1; nth <= 6; ++nth) {
      Reader reader({folder_ / "f"}, options(4));
      const Arena buffer(16 * 4096, "tests");
      const FaultScope fault({sys::Call::kPread, nth, error_number});
      Bytes all;
      const auto read = [&] {
        while (const auto block = reader.next(buffer.bytes())) {
          all.insert(all.end(), buffer.data(), buffer.data() + block->bytes);
        }
      };
      if (error_number == EIO && nth <= 4) {
        const Error error = error_of(read);
        EXPECT_EQ(error.error_number(), EIO);
        EXPECT_EQ(error.path(), folder_ / "f");
        EXPECT_EQ(error.offset_bytes(), (nth - 1) * 16 * 4096);
      } else {
        read();
        EXPECT_EQ(all, data);
      }
    }
  }
}

TEST(Reader, FallsBackWhereDirectReadsAreRefused) {
  const TempFolder folder;
  const Bytes data = random_bytes(100'000);
  write_file(folder / "f", data);
  const auto options = ReaderOptions{.element_bytes = 4, .way = {DirectIo::kOn}};
  {
    Reader reader({folder / "f"}, options);
    const FaultScope fault({sys::Call::kPread, 1, EINVAL});
    EXPECT_EQ(read_all(reader, 8192), data);
    EXPECT_TRUE(contains(reader.notes().at(0), "O_DIRECT is not supported here"));
  }
  const FaultScope fault({sys::Call::kOpen, 2, EINVAL});
  Reader reader({folder / "f"}, options);
  EXPECT_EQ(read_all(reader, 8192), data);
  EXPECT_TRUE(contains(reader.notes().at(0), "O_DIRECT is not supported here"));
}

TEST(Reader, KnowsWhichFilesAreCached) {
  const TempFolder folder;
  const Bytes data = random_bytes(std::size_t{20} << 20);
  write_file(folder / "f", data);
  EXPECT_TRUE(contains(Reader({folder / "f"}).notes().at(0), ": cached"));
  const int fd = sys::open_at(AT_FDCWD, (folder / "f").c_str(), O_RDONLY, 0);
  ASSERT_EQ(sys::fsync(fd), 0);
  sys::advise(fd, 0, 0, POSIX_FADV_DONTNEED);
  sys::close(fd);
  Reader cold({folder / "f"});
  if (!contains(cold.notes().at(0), "not cached")) GTEST_SKIP() << cold.notes().at(0);
  EXPECT_EQ(read_all(cold, std::size_t{1} << 20, 2), data);
}

TEST(Reader, NamesTheOddTail) {
  const TempFolder folder;
  write_file(folder / "even", random_bytes(800));
  write_file(folder / "odd", random_bytes(1003));
  const Error error = error_of([&] {
    const Reader reader({folder / "even", folder / "odd"}, {.element_bytes = 8});
  });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_TRUE(
      contains(error.what(), "reading " + (folder / "odd") + " at byte 1000: the size, 1003"));
}

TEST(Reader, RefusesFoldersMissingFilesAndStandardInputTwice) {
  const TempFolder folder;
  EXPECT_EQ(error_of([&] { const Reader reader({folder.path()}); }).error_number(), EISDIR);
  EXPECT_EQ(error_of([&] { const Reader reader({folder / "none"}); }).error_number(), ENOENT);
  EXPECT_EQ(error_of([&] { const Reader reader({"-", "-"}); }).kind(), ErrorKind::kUsage);
}

TEST(Reader, RefusesMoreThanAnyFileCanHold) {
  const std::string path = "/dev/shm/gsort-test-" + std::to_string(::getpid());
  write_file(path, {});
  const bool huge = ::truncate(path.c_str(), INT64_MAX - 4095) == 0;
  std::optional<std::uint64_t> size;
  std::optional<Error> error;
  if (huge) {
    size = Reader({path}, {.element_bytes = 8}).known_size();
    error = error_of([&] { const Reader reader({path, path}, {.element_bytes = 8}); });
  }
  std::filesystem::remove(path);
  if (!huge) GTEST_SKIP() << "no file system for sparse files of 8 EiB here";
  EXPECT_EQ(size, static_cast<std::uint64_t>(INT64_MAX) - 4095);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
}

TEST_P(ReaderOf, NumbersTheElementsOfAllInputs) {
  const Bytes first = random_bytes(3 * 100'001, 1);
  const Bytes second = random_bytes(3 * 70'000, 2);
  write_file(folder_ / "first", first);
  write_file(folder_ / "second", second);
  Bytes all = first;
  all.insert(all.end(), second.begin(), second.end());
  const Numbering numbering{3, 4, false};
  for (const unsigned threads : {1U, 3U}) {
    Reader reader({folder_ / "first", folder_ / "second"}, options(3));
    reader.number_elements(numbering);
    EXPECT_EQ(reader.known_size(), 170'001U * 7);
    Bytes sample(7'000);
    EXPECT_EQ(reader.sample(sample, 0, *reader.known_size()) % 7, 0U);
    reader.begin_at(std::uint64_t{7} * 50);
    EXPECT_EQ(reader.position(), 50U * 7);
    const Bytes records = read_all(reader, 64 << 10, threads);
    EXPECT_TRUE(reader.at_end());
    ASSERT_EQ(records.size(), 170'001U * 7);
    for (std::size_t i = 50; i < 170'001; ++i) {
      std::uint32_t index = 0;
      std::memcpy(&index, records.data() + i * 7 + 3, sizeof(index));
      ASSERT_EQ(index, i);
      ASSERT_EQ(std::memcmp(records.data() + i * 7, all.data() + i * 3, 3), 0) << i;
    }
  }
}

TEST_P(ReaderOf, EndsNumberedElementsWhereItIsTold) {
  write_file(folder_ / "in", random_bytes(1'000));
  Reader reader({folder_ / "in"}, options(1));
  reader.number_elements({1, 8, false});
  Bytes buffer(4096);
  const auto block = reader.next(buffer, std::uint64_t{9} * 10);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->bytes, 90U);
  reader.end_at(std::uint64_t{9} * 600);
  EXPECT_EQ(reader.known_size(), 9U * 600);
  std::uint64_t bytes = 90;
  while (const auto more = reader.next(buffer)) {
    EXPECT_EQ(more->position_bytes, bytes);
    bytes += more->bytes;
  }
  EXPECT_EQ(bytes, 9U * 600);
}

TEST_P(ReaderOf, GoesFromOneStretchToTheNext) {
  const Bytes all = random_bytes(4 * 90'000);
  write_file(folder_ / "first", Bytes(all.begin(), all.begin() + 4 * 50'000));
  write_file(folder_ / "second", Bytes(all.begin() + 4 * 50'000, all.end()));
  using Stretches = std::vector<std::pair<std::size_t, std::size_t>>;
  for (const Stretches& stretches :
       {Stretches{{0, 0}, {7, 30'001}, {30'001, 30'002}, {49'999, 60'000}, {70'000, 90'000}},
        Stretches{{0, 10'000}, {55'000, 60'000}}, Stretches{{3, 40'000}, {50'000, 50'001}}}) {
    Reader reader({folder_ / "first", folder_ / "second"}, options(4));
    for (const auto& [begin, end] : stretches) {
      reader.end_at(4 * end);
      reader.begin_at(4 * begin);
      EXPECT_EQ(reader.position(), 4 * begin);
      const Bytes read = read_all(reader, 64 << 10, 2);  // each byte at its position
      EXPECT_TRUE(reader.at_end());
      ASSERT_EQ(read.size(), 4 * end);
      EXPECT_TRUE(std::ranges::equal(std::span(read).subspan(4 * begin),
                                     std::span(all).subspan(4 * begin, 4 * (end - begin))))
          << begin;
    }
  }
}

TEST_P(ReaderOf, NumbersElementsAcrossTheLimitOf32Bits) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 32;
  constexpr std::uint64_t kRecord = 9;
  write_file(folder_ / "in", {});
  std::filesystem::resize_file(folder_ / "in", kLimit + 5);
  Reader reader({folder_ / "in"}, options(1));
  reader.number_elements({1, 8, false});
  EXPECT_EQ(reader.known_size(), kRecord * (kLimit + 5));
  std::uint64_t expected = kLimit - 3;
  reader.begin_at(kRecord * expected);
  Bytes buffer(4096);
  while (const auto block = reader.next(buffer)) {
    EXPECT_EQ(block->position_bytes, kRecord * expected);
    for (std::size_t at = 0; at < block->bytes; at += kRecord, ++expected) {
      std::uint64_t index = 0;
      std::memcpy(&index, buffer.data() + at + 1, sizeof(index));
      ASSERT_EQ(index, expected);
    }
  }
  EXPECT_EQ(expected, kLimit + 5);
}

TEST(Reader, ReadsFilesThatSayTheyAreEmpty) {
  Reader reader({"/proc/self/status"});
  EXPECT_EQ(reader.known_size(), std::nullopt);
  EXPECT_GT(read_all(reader, 4096).size(), 100U);
}

TEST(Reader, ReadsFilesThatSayTheyHaveAPage) {
  const std::string path = "/sys/devices/system/cpu/online";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  Reader reader({path});
  EXPECT_EQ(read_all(reader, 4096), read_file(path));
}

// An array of u32 in Fortran order, whose numbers are 0, 1, ... along its rows.
void write_columns(const std::string& path, std::uint32_t rows, std::uint32_t columns) {
  const StoredDtype dtype = npy_dtype_of({KeyType::kU32, false, false});
  std::vector<std::byte> header = make_npy_header(dtype, std::uint64_t{rows} * columns, columns);
  std::string text(reinterpret_cast<const char*>(header.data()), header.size());
  text.replace(text.find("False,"), 6, "True, ");
  for (std::uint32_t column = 0; column < columns; ++column) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint32_t number = row * columns + column;
      text.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
  write_file(path, {reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

TEST(ReaderOfColumns, ReadsWideArraysWithFewCalls) {
  const TempFolder folder;
  const std::string path = folder / "in.npy";
  ReaderOptions options;
  options.form.format = FileFormat::kNpy;
  options.key.type = KeyType::kU32;
  using RowsAndCalls = std::pair<std::uint32_t, std::uint64_t>;
  for (const auto& [rows, most_calls] :
       {RowsAndCalls{2, 500}, RowsAndCalls{3, 500}, RowsAndCalls{100, 6'000},
        RowsAndCalls{1'000, 6'000}, RowsAndCalls{1'100, 21'000}, RowsAndCalls{5'000, 5'000}}) {
    const std::uint32_t columns = 600'000 / rows;
    write_columns(path, rows, columns);
    Reader reader({path}, options);
    const FaultScope counts({sys::Call::kPread, 1U << 30, EIO});
    std::array<std::uint32_t, 16> sample{};
    ASSERT_EQ(reader.sample(std::as_writable_bytes(std::span(sample)), 4 * (columns - 8),
                            4 * (columns + 8)),
              64U);
    const std::uint64_t of_sample = sys::counted_calls();
    for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(sample[i], columns - 8 + i);
    EXPECT_LE(of_sample, 16U) << rows;
    const Bytes all = read_all(reader, 65536);
    const std::uint64_t calls = sys::counted_calls() - of_sample;
    ASSERT_EQ(all.size(), std::size_t{4} * rows * columns);
    for (std::uint32_t i = 0; i < rows * columns; ++i) {
      std::uint32_t number = 0;
      std::memcpy(&number, all.data() + std::size_t{4} * i, sizeof number);
      ASSERT_EQ(number, i) << rows;
    }
    EXPECT_LE(calls, most_calls) << rows;
  }
}

}  // namespace
}  // namespace gsort::io
