#include "io/runs/run_files.hpp"

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "io/runs/run_store.hpp"
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

}  // namespace
}  // namespace gsort::io
