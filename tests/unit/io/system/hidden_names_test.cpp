#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/system/linkable_file.hpp"
#include "io/system/temporary_file.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// In a process of its own: a file with a hidden name is written, and `signal` comes.
void end_while_writing(const TempFolder& folder, int signal) {
  const Folder open = open_folder(folder.path(), ErrorKind::kOutput);
  constexpr bool kIsHidden = true;
  const LinkableFile file(open, "out", "out", kIsHidden);
  ASSERT_EQ(folder.entries().size(), 1U);
  std::raise(signal);
  std::_Exit(0);
}

TEST(RemovedOnSignalDeathTest, GoWithTheProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TempFolder folder;
    EXPECT_EXIT(
        {
          remove_names_on_signals();
          end_while_writing(folder, signal);
        },
        testing::KilledBySignal(signal), "");
    EXPECT_EQ(folder.entries(), std::vector<std::string>()) << signal;
  }
}

TEST(RemovedOnSignalDeathTest, StayInAHostAndWhereSignalsAreIgnored) {
  const TempFolder folder;
  EXPECT_EXIT(end_while_writing(folder, SIGTERM), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(folder.entries().size(), 1U);
  const TempFolder other;
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        remove_names_on_signals();
        end_while_writing(other, SIGHUP);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(other.entries().size(), 1U);
}

TEST(RemovedOnSignalDeathTest, AreForgottenWithTheName) {
  const TempFolder folder;
  EXPECT_EXIT(
      {
        remove_names_on_signals();
        const Folder open = open_folder(folder.path(), ErrorKind::kOutput);
        constexpr bool kIsHidden = true;
        LinkableFile file(open, "out", "out", kIsHidden);
        const std::string hidden = file.hidden_name();
        file.put_in_place(false, 0);
        test::write_file(folder / hidden, test::Bytes(1));  // somebody else's
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(folder.entries().size(), 2U);
}

// Also with unlisted files: NFS gives an open file a new name when it is removed.
TEST(RemovedOnSignalDeathTest, FoldersGoWithAllTheirFiles) {
  const TempFolder folder;
  constexpr int kFiles = 300;  // more names than are read at once
  EXPECT_EXIT(
      {
        remove_names_on_signals();
        ASSERT_EQ(::mkdir((folder / "runs").c_str(), 0700), 0);
        for (int file = 0; file < kFiles; ++file) {
          test::write_file(folder / ("runs/.nfs" + std::to_string(file)), test::Bytes(1));
        }
        const Folder above = open_folder(folder.path(), ErrorKind::kOutput);
        const Folder inside = open_folder(folder / "runs", ErrorKind::kOutput);
        constexpr bool kIsHidden = true;
        const LinkableFile open(inside, "out", "out", kIsHidden);
        const RemovedOnSignal itself(above.file.fd(), "runs", RemovedOnSignal::Kind::kFolder);
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(folder.entries(), std::vector<std::string>());
}

}  // namespace
}  // namespace gsort::io
