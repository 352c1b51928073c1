// The fault loop: one small spill from input to committed output, repeated with the Nth call of
// every kind failing, N = 1, 2, ... until a run is clean. Each time either everything is right, or
// there is an Error, the old output is intact, and the folders are as they were.
#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "io/runs/run_store.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr std::size_t kKeys = 12'000;
constexpr std::size_t kBytes = kKeys * 4;

// Every entry point once: read in blocks, put as runs of blocks, read back by ranges, write,
// commit.
void spill(const std::string& input, const std::vector<std::string>& folders,
           const std::string& target, DirectIo policy) {
  const Arena arena(std::size_t{1} << 20, "tests");
  const ByteSpan buffer = arena.bytes().first(16384);
  const ByteSpan scratch = arena.bytes().subspan(65536, 65536);
  const ByteSpan piece = arena.bytes().subspan(262144, 65536);
  Reader reader({input}, {.element_bytes = 4, .way = {policy}});
  Output output(target, {.direct_io = policy});
  output.prepare(kBytes);
  RunStoreOptions options;
  options.block_elements = 1000;
  options.direct_io = policy;
  options.write_buffer_bytes = 16384;
  RunStore store(folders, 4, options);
  RunWriter writer = store.begin_run(kKeys);
  std::array<std::byte, 4096> sample{};
  (void)reader.sample(sample, 0, kBytes);
  while (const auto block = reader.next(buffer)) {
    writer.put(block->position_bytes / 4, buffer.first(block->bytes));
  }
  reader.check_unchanged();
  io::Run run = writer.finish();
  for (std::uint64_t at = 0; at < kKeys; at += 7000) {
    const std::uint64_t end = std::min<std::uint64_t>(at + 7000, kKeys);
    run.read_range(at, end, piece, scratch);
    output.write_at(at * 4, piece.first((end - at) * 4));
    run.release_before(end);
  }
  output.commit(kBytes);
}

struct Case {
  sys::Call call;
  int error_number;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> list;
    for (std::size_t i = 0; i < sys::kCallKinds; ++i) {
      for (const int error_number : {EIO, ENOSPC, EMFILE, EINVAL, EINTR, 0}) {
        list.push_back({static_cast<sys::Call>(i), error_number});
      }
    }
    return list;
  }();
  return all;
}

class FaultLoop : public testing::TestWithParam<DirectIo> {};
INSTANTIATE_TEST_SUITE_P(Policies, FaultLoop, testing::Values(DirectIo::kOn, DirectIo::kOff));

void check_outcome(const TempFolder& out, const TempFolder& runs, const std::optional<Error>& error,
                   const Bytes& data, bool folder_sync_failed) {
  const Bytes found = test::read_file(out / "out");
  if (error && !folder_sync_failed) {
    EXPECT_EQ(found, bytes_of("old")) << error->what();
  } else {
    EXPECT_TRUE(found == data) << (error ? error->what() : "no error");
  }
  EXPECT_EQ(out.entries().size(), 1U);
  EXPECT_TRUE(runs.entries().empty());
  if (error) {
    EXPECT_FALSE(error->operation().empty());
    EXPECT_TRUE(!error->path().empty() || error->kind() == ErrorKind::kResource) << error->what();
  }
}

TEST_P(FaultLoop, EndsRightOrWithAnErrorAndTheOldOutput) {
  const TempFolder in;
  const Bytes data = test::random_bytes(kBytes);
  write_file(in / "in", data);
  std::size_t faults = 0;
  for (const Case& fault : cases()) {
    for (const bool from_then_on : {false, true}) {
      // Interrupted for ever is no outcome; and of the rest, two stand for all.
      const bool persistent = fault.error_number == EIO || fault.error_number == ENOSPC;
      if (from_then_on && !persistent) continue;
      for (std::uint64_t nth = 1;; ++nth) {
        SCOPED_TRACE(std::string(sys::name_of(fault.call)) + " " + std::to_string(nth) + " " +
                     std::to_string(fault.error_number) + (from_then_on ? " on" : ""));
        const TempFolder out;
        const TempFolder runs;
        write_file(out / "out", bytes_of("old"));
        std::optional<Error> error;
        sys::inject({fault.call, nth, fault.error_number, from_then_on});
        try {
          spill(in / "in", {runs.path()}, out / "out", GetParam());
        } catch (const Error& caught) {
          error = caught;
        }
        const bool hit = sys::counted_calls() >= nth;
        sys::clear_faults();
        // The one failure after which the new file is in place: the sync of its folder.
        const bool folder_sync_failed = error && error->operation() == "syncing" &&
                                        error->path() == out.path() &&
                                        test::contains(error->hint(), "the new output is in place");
        check_outcome(out, runs, error, data, folder_sync_failed);
        if (!hit) {
          EXPECT_FALSE(error) << error->what();
          break;
        }
        ++faults;
      }
    }
  }
  RecordProperty("faults", std::to_string(faults));
  EXPECT_GT(faults, 300U);
}

TEST(FaultLoopOverFolders, GoesOnInTheNextFolderWhenOneIsFull) {
  const TempFolder in;
  const TempFolder out;
  const TempFolder first;
  const TempFolder second;
  const Bytes data = test::random_bytes(kBytes);
  write_file(in / "in", data);
  for (std::uint64_t nth = 1; nth < 5; ++nth) {
    sys::inject({sys::Call::kPwrite, nth, ENOSPC});
    spill(in / "in", {first.path(), second.path()}, out / "out", DirectIo::kOn);
    sys::clear_faults();
    EXPECT_TRUE(test::read_file(out / "out") == data);
  }
}

}  // namespace
}  // namespace gsort::io
