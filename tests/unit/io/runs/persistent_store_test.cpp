// Runs that outlast their store: found again bit for bit, or refused.
#include <algorithm>
#include <random>

#include <fcntl.h>

#include "base/units.hpp"
#include "io/runs/run_store.hpp"
#include "io/system/host_facts.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// A file for the runs of several stores, one after the other, as processes have them.
class PersistentRuns : public testing::Test {
 protected:
  PersistentRuns()
      : path_(folder_ / "runs"),
        file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), path_,
              ErrorKind::kTemporary) {}

  // A new store behind all that has been written.
  [[nodiscard]] RunStore store(std::uint64_t element_bytes = 8, RunStoreOptions options = {}) {
    options.block_elements = kBlockElements;
    options.write_buffer_bytes = 16384;
    options.persistent =
        PersistentStore{&file_, round_up(end_bytes(), kDirectAlignment), store_, next_run_};
    return {{folder_.path()}, element_bytes, options};
  }

  // Writes a run in pieces, and keeps it. Returns what a manifest says of it.
  ManifestRun keep(RunStore& store, ConstByteSpan elements, std::uint64_t element_bytes = 8) {
    const io::Run run = written(store, elements, element_bytes);
    next_run_ = run.number() + 1;
    return {run.number(), {run.elements(), 0, 0}, store.keep(run)};
  }

  static io::Run written(RunStore& store, ConstByteSpan elements, std::uint64_t element_bytes = 8) {
    constexpr std::uint64_t kPieceElements = 333;
    RunWriter writer = store.begin_run(elements.size() / element_bytes);
    for (std::uint64_t at = 0; !elements.empty(); at += kPieceElements) {
      const std::size_t bytes = std::min(elements.size(), kPieceElements * element_bytes);
      writer.put(at, elements.first(bytes));
      elements = elements.subspan(bytes);
    }
    return writer.finish();
  }

  static Bytes read(const RunStore& store, const io::Run& run, std::uint64_t element_bytes = 8) {
    Bytes elements(run.elements() * element_bytes);
    const Arena scratch(store.scratch_bytes(), "tests");
    run.read_range(0, run.elements(), elements, scratch.bytes());
    return elements;
  }

  [[nodiscard]] std::uint64_t end_bytes() const {
    return static_cast<std::uint64_t>(file_.facts().st_size);
  }
  [[nodiscard]] std::uint64_t disk_bytes() const {
    file_.sync();
    return static_cast<std::uint64_t>(file_.facts().st_blocks) * 512;
  }
  void flip_bit_at(std::uint64_t offset) const {
    Bytes byte(1);
    ASSERT_EQ(file_.read_full_at(byte, offset), 1U);
    byte[0] ^= std::byte{1};
    file_.write_full_at(byte, offset);
  }

  static constexpr std::uint64_t kBlockElements = 100;

  const TempFolder folder_;
  const std::string path_;
  const File file_;
  std::uint64_t store_ = 77;
  std::uint64_t next_run_ = 0;
};

// Sorted numbers below `end`: a small one makes blocks that are packed.
Bytes sorted_numbers(std::size_t count, std::uint64_t seed, std::uint64_t end = UINT64_MAX) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t& number : numbers) number = random() % end;
  std::ranges::sort(numbers);
  return gsort::test::raw_of(numbers);
}

TEST_F(PersistentRuns, AreFoundBitForBitByTheNextStore) {
  for (const DirectIo policy : {DirectIo::kAuto, DirectIo::kOff}) {
    for (const Packing packing : {Packing::kOff, Packing::kAuto}) {
      RunStoreOptions options;
      options.direct_io = policy;
      options.packing = packing;
      std::vector<Bytes> written;
      std::vector<ManifestRun> kept;
      for (const std::size_t count : {1U, 99U, 100U, 101U, 12'345U}) {
        RunStore of_one_process = store(8, options);
        written.push_back(sorted_numbers(count, count, 1 << 20));
        kept.push_back(keep(of_one_process, written.back()));
      }
      RunStore last = store(8, options);
      for (std::size_t i = 0; i < kept.size(); ++i) {
        const io::Run run = last.find(kept[i]);
        EXPECT_EQ(run.number(), kept[i].number);
        EXPECT_EQ(run.elements(), kept[i].input.count);
        EXPECT_TRUE(read(last, run) == written[i]) << i;
      }
    }
  }
}

TEST_F(PersistentRuns, MayBeOfRecords) {
  RunStoreOptions options;
  RecordFormat format;
  format.bytes = 24;
  format.keys.emplace_back();
  format.keys[0].offset = 8;
  format.keys[0].bytes = 16;
  options.records.emplace(format);
  const RecordOrder order(format);
  const Bytes records = gsort::test::stably_sorted(random_bytes(24 * 5'000), format);
  ManifestRun kept;
  {
    RunStore first = store(24, options);
    kept = keep(first, records, 24);
  }
  RunStore second = store(24, options);
  const io::Run run = second.find(kept);
  EXPECT_EQ(run.fences().first_key(0), order.prefix_of(records.data()));
  EXPECT_TRUE(read(second, run, 24) == records);
}

TEST_F(PersistentRuns, StayWhenTheyWereReadAndReleased) {
  const Bytes numbers = sorted_numbers(10'000, 1);
  ManifestRun kept;
  {
    RunStore first = store();
    kept = keep(first, numbers);
    io::Run run = first.find(kept);
    EXPECT_TRUE(read(first, run) == numbers);
    run.release_before(run.elements());
  }
  RunStore second = store();
  EXPECT_TRUE(read(second, second.find(kept)) == numbers);
}

TEST_F(PersistentRuns, ThatAreDroppedGiveTheirSpaceBack) {
  constexpr std::uint64_t kBytes = 4 << 20;
  RunStoreOptions options;
  options.packing = Packing::kOff;
  const Bytes numbers = sorted_numbers(kBytes / 8, 1);
  RunStore only = store(8, options);
  const ManifestRun dropped = keep(only, numbers);
  const std::uint64_t before = disk_bytes();
  ASSERT_GE(before, kBytes);
  const ManifestRun stays = keep(only, numbers);
  only.drop(only.find(dropped), dropped.index);
  EXPECT_LE(disk_bytes(), before + 64 * kKiB) << "not all of it is given back";
  EXPECT_TRUE(read(only, only.find(stays)) == numbers);
  const Error error = error_of([&] { (void)only.find(dropped); });
  EXPECT_TRUE(contains(error.what(), "checksum of its index")) << error.what();
}

TEST_F(PersistentRuns, WithADamagedIndexAreRefused) {
  const Bytes numbers = sorted_numbers(1'000, 1);
  RunStore first = store();
  const ManifestRun kept = keep(first, numbers);
  for (std::uint64_t at = 0; at < kept.index.blocks * kIndexEntryBytes; ++at) {
    flip_bit_at(kept.index.offset + at);
    RunStore second = store();
    const Error error = error_of([&] { (void)second.find(kept); });
    EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
    EXPECT_EQ(error.offset_bytes(), kept.index.offset);
    EXPECT_TRUE(contains(error.what(), "resuming run 0")) << error.what();
    EXPECT_TRUE(contains(error.hint(), "to start again")) << error.hint();
    flip_bit_at(kept.index.offset + at);
  }
  RunStore third = store();
  EXPECT_TRUE(read(third, third.find(kept)) == numbers);
}

TEST_F(PersistentRuns, WithoutAllOfTheirIndexAreRefused) {
  RunStore first = store();
  const ManifestRun kept = keep(first, sorted_numbers(1'000, 1));
  file_.truncate(kept.index.offset + kIndexEntryBytes);
  const Error error = error_of([&] { (void)first.find(kept); });
  EXPECT_TRUE(contains(error.what(), "its index is truncated")) << error.what();
}

TEST_F(PersistentRuns, WithAHugeIndexInASparseFileAreRefusedWithoutReadingAllOfIt) {
  RunStore first = store();
  ManifestRun kept = keep(first, sorted_numbers(1'000, 1));
  kept.index.blocks = kept.input.count = std::uint64_t{1} << 24;
  file_.truncate(kept.index.offset + kept.index.blocks * kIndexEntryBytes);
  const std::uint64_t before = peak_resident_bytes();
  const Error error = error_of([&] { (void)first.find(kept); });
  EXPECT_TRUE(contains(error.what(), "its index is inconsistent")) << error.what();
  EXPECT_LT(peak_resident_bytes(), before + 64 * kMiB);
}

TEST_F(PersistentRuns, WithAnIndexOfSeveralPiecesAreFoundAgain) {
  const Bytes numbers = sorted_numbers(40'000 * kBlockElements, 1);
  RunStore first = store();
  const ManifestRun kept = keep(first, numbers);
  EXPECT_GT(kept.index.blocks * kIndexEntryBytes, kMiB);
  EXPECT_TRUE(read(first, first.find(kept)) == numbers);
}

// As encode_index() of other blocks would be, with the right checksum.
TEST_F(PersistentRuns, WithAnIndexOfOtherBlocksAreRefused) {
  RunStore first = store();
  const ManifestRun kept = keep(first, sorted_numbers(1'000, 1));
  ManifestRun longer = kept;
  longer.input.count += kBlockElements;
  const auto expect_refusal = [&](const ManifestRun& run) {
    const Error error = error_of([&] { (void)first.find(run); });
    EXPECT_TRUE(contains(error.what(), "does not hold all of its elements")) << error.what();
    EXPECT_TRUE(contains(error.hint(), "to start again")) << error.hint();
  };
  expect_refusal(longer);
  ManifestRun shorter = kept;
  shorter.input.count = 900;
  expect_refusal(shorter);

  Bytes index(kept.index.blocks * kIndexEntryBytes);
  ASSERT_EQ(file_.read_full_at(index, kept.index.offset), index.size());
  index[kIndexEntryBytes + 8] ^= std::byte{0xff};  // a position
  file_.write_full_at(index, kept.index.offset);
  ManifestRun other = kept;
  other.index.checksum = checksum_of_index(index);
  const Error error = error_of([&] { (void)first.find(other); });
  EXPECT_NE(error.kind(), ErrorKind::kUsage) << error.what();
}

TEST_F(PersistentRuns, WithADamagedBlockAreRefusedWhereItIsRead) {
  RunStore first = store();
  const ManifestRun kept = keep(first, sorted_numbers(1'000, 1));
  flip_bit_at(200);
  RunStore second = store();
  const io::Run run = second.find(kept);
  const Error error = error_of([&] { (void)read(second, run); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(contains(error.what(), "block 0 of run 0")) << error.what();
  EXPECT_FALSE(contains(error.hint(), "-T ")) << error.hint();
}

// A run that was being written when the process died lies behind the last one that was kept, and
// the file is not always cut there before the disk has forgotten it.
TEST_F(PersistentRuns, AreNotMixedUpWithThoseOfAnUnfinishedRun) {
  const Bytes numbers = sorted_numbers(1'000, 1);
  RunStore first = store();
  ManifestRun unfinished;
  {
    const io::Run run = written(first, numbers);
    unfinished = {run.number(), {run.elements(), 0, 0}, first.keep(run)};
  }
  next_run_ = unfinished.number + 2;  // as RunFolder counts
  RunStore second = store();
  ManifestRun kept = keep(second, numbers);
  EXPECT_NE(kept.number, unfinished.number);
  kept.index = unfinished.index;  // as if its index had been lost, and what lay there before came
  const io::Run mixed_up = second.find(kept);
  const Error error = error_of([&] { (void)read(second, mixed_up); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
}

TEST_F(PersistentRuns, OfAnotherStoreAreRefused) {
  RunStore first = store();
  const ManifestRun kept = keep(first, sorted_numbers(1'000, 1));
  store_ = 78;
  RunStore foreign = store();
  const io::Run run = foreign.find(kept);
  EXPECT_EQ(error_of([&] { (void)read(foreign, run); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(PersistentRuns, StayOutOfMemoryAndOfThePageCache) {
  RunStoreOptions options;
  options.kept_buffers = 1'000;
  options.left_in_page_cache = true;
  RunStore only = store(8, options);
  const std::uint64_t fdatasyncs = [&] {
    const test::FaultScope counting({sys::Call::kFdatasync, 1'000'000, EIO});
    (void)keep(only, sorted_numbers(1'000, 1));
    return sys::counted_calls();
  }();
  EXPECT_EQ(only.bytes_kept(), 0U);
  EXPECT_GE(only.bytes_written(), 8'000U / 8);
  EXPECT_GE(fdatasyncs, 2U) << "of the run and of its index";
}

TEST_F(PersistentRuns, ThatCannotBeWrittenSayWhatToDo) {
  RunStore only = store();
  const io::Run run = written(only, sorted_numbers(1'000, 1));
  const test::FaultScope fault({sys::Call::kPwrite, 1, ENOSPC, true});
  const Error error = error_of([&] { (void)only.keep(run); });
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_EQ(error.error_number(), ENOSPC);
  EXPECT_FALSE(contains(error.hint(), "-T ")) << "-T excludes --resume: " << error.hint();
}

}  // namespace
}  // namespace gsort::io
