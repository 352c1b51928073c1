#include "io/runs/run_files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "io/runs/run_store.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// A folder is full for one thread while another has just found room in it.
TEST(RunFiles, NamesTheReasonHoweverOftenAFolderIsFullForAMoment) {
  const test::TempFolder folder;
  RunStoreOptions options;
  options.direct_io = DirectIo::kOff;
  RunFiles files({folder.path()}, options);
  const Arena buffer(4096, "tests");
  std::atomic<int> writing{8};
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i) {
      writers.emplace_back([&] {
        for (int turn = 0; turn < 10000; ++turn) {
          try {
            files.append(buffer.bytes(), 7);
          } catch (const Error& error) {
            EXPECT_EQ(error.error_number(), ENOSPC);
            EXPECT_TRUE(test::contains(error.what(), "writing run 7 in " + folder.path()));
          }
        }
        --writing;
      });
    }
    while (writing > 0) sys::inject({sys::Call::kPwrite, 1, ENOSPC});
    sys::clear_faults();
  }
  const test::FaultScope fault({sys::Call::kPwrite, 1, ENOSPC, true});
  const Error error = test::error_of([&] { files.append(buffer.bytes(), 7); });
  EXPECT_EQ(error.error_number(), ENOSPC);
}

// In the page cache, threads cannot write to one file at the same time.
TEST(RunFiles, HasAFileForEachThreadWhereRunsStayInMemory) {
  const test::TempFolder folder;
  RunStoreOptions options;
  options.write_buffers = 4;
  for (const bool stays : {false, true}) {
    options.left_in_page_cache = stays;
    options.direct_io = stays ? DirectIo::kAuto : DirectIo::kOn;
    RunFiles files({folder.path()}, options);
    const Arena buffers(6 * 4096, "tests");
    std::vector<FilePlace> places;
    for (std::size_t i = 0; i < 6; ++i) {
      const ByteSpan bytes = buffers.bytes().subspan(i * 4096, 4096);
      std::ranges::fill(bytes, static_cast<std::byte>(i));
      places.push_back(files.append(bytes, 0));
    }
    const Arena scratch(4096 + RunFiles::kReadSlack, "tests");
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(places[i].folder, stays ? i % 3 : 0);
      EXPECT_EQ(places[i].offset, 4096 * (stays ? i / 3 : i));
      const ConstByteSpan read =
          files.read(places[i].folder, places[i].offset, 4096, scratch.bytes(), 0);
      EXPECT_EQ(std::ranges::count(read, static_cast<std::byte>(i)), 4096);
    }
  }
}

// More files in memory than on the disk would take more than memory's share of the runs.
TEST(RunFiles, HasOneFileInEachFolderBesideADisk) {
  const test::TempFolder disk;
  if (!folder_facts("/dev/shm") || folder_facts(disk.path())->is_memory()) {
    GTEST_SKIP() << "no disk beside a /dev/shm";
  }
  RunStoreOptions options;
  options.write_buffers = 4;
  options.direct_io = DirectIo::kAuto;
  RunFiles files({"/dev/shm", disk.path()}, options);
  const Arena buffer(4096, "tests");
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(files.append(buffer.bytes(), 0).folder, i % 2);
  }
}

}  // namespace
}  // namespace gsort::io
