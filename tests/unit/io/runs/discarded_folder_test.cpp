// Folders of runs that must go, or must stay since gsort has not made what is in them.
#include <cerrno>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/runs/resume_folder.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

namespace fs = std::filesystem;

class DiscardedFolder : public testing::Test {
 protected:
  DiscardedFolder() {
    manifest_.store = 7;
    manifest_.block_elements = 100;
    manifest_.element_bytes = 4;
    manifest_.job = "a job";
    manifest_.runs = {{0, {1000, 2, 3}, {8192, 10, 4}}};
    manifest_.next_run = 1;
  }

  void leave(const std::string& name) const {
    fs::create_directory(outside_ / name);
    test::write_file(outside_ / name + "/gsort.manifest", encode_manifest(manifest_));
    test::write_file(outside_ / name + "/gsort.runs", test::Bytes(12288));
  }
  [[nodiscard]] ResumeFolder use(const std::string& name,
                                 ResumePath whose = ResumePath::kOfGsort) const {
    return {outside_ / name, ResumeAccess::kUse, kMostManifestBytes, whose};
  }

  const test::TempFolder outside_;
  Manifest manifest_;
};

TEST_F(DiscardedFolder, GoesWithWhatAKilledProcessHasLeftInIt) {
  leave("dir");
  test::write_file(outside_ / "dir/.gsort-0123456789abcdef", {});
  use("dir").discard();
  EXPECT_TRUE(outside_.entries().empty());
}

TEST_F(DiscardedFolder, GoesWhereTheDiskIsFull) {
  leave("dir");
  ResumeFolder folder = use("dir");
  const test::FaultScope fault({sys::Call::kPwrite, 1, ENOSPC, true});
  folder.discard();
  EXPECT_TRUE(fs::is_empty(outside_ / "dir"));
}

TEST_F(DiscardedFolder, WithoutRunsGoesWhereTheDiskIsFull) {
  manifest_.runs.clear();
  leave("dir");
  ResumeFolder folder = use("dir");
  const test::FaultScope fault({sys::Call::kPwrite, 1, ENOSPC, true});
  folder.remove(*folder.found());
  EXPECT_TRUE(fs::is_empty(outside_ / "dir"));
}

TEST_F(DiscardedFolder, KeepsFilesOfOthers) {
  leave("dir");
  for (const char* const name : {"notes", ".gsort-notes", "in.u32"}) {
    test::write_file(outside_ / "dir/" + name, {});
  }
  use("dir").discard();
  for (const char* const name : {"notes", ".gsort-notes", "in.u32"}) {
    EXPECT_TRUE(fs::exists(outside_ / "dir/" + name)) << name;
  }
  EXPECT_FALSE(fs::exists(outside_ / "dir/gsort.runs"));
}

TEST_F(DiscardedFolder, KeepsAFileOfRunsThatGsortDidNotMake) {
  for (const bool is_complete : {false, true}) {
    leave("dir");
    ResumeFolder folder = use("dir");
    fs::create_hard_link(outside_ / "dir/gsort.runs", outside_ / "mine");
    const Error error = test::error_of(
        [&] { return is_complete ? folder.remove(*folder.found()) : folder.discard(); });
    EXPECT_TRUE(test::contains(error.hint(), "did not create")) << error.what();
    EXPECT_TRUE(fs::exists(outside_ / "dir/gsort.runs"));
    fs::remove(outside_ / "mine");
  }
}

TEST_F(DiscardedFolder, IsNoLinkUnderANameOfGsort) {
  leave("dir");
  fs::create_directory_symlink("dir", outside_ / "link");
  fs::create_directory_symlink("nowhere", outside_ / "dangling");
  test::write_file(outside_ / "file", {});
  for (const char* const name : {"link", "dangling", "file"}) {
    const Error error = test::error_of([&] { const ResumeFolder folder = use(name); });
    EXPECT_TRUE(test::contains(error.hint(), "did not create this folder")) << error.what();
  }
  EXPECT_TRUE(use("link", ResumePath::kOfUser).found().has_value());
  EXPECT_TRUE(fs::exists(outside_ / "dir/gsort.runs"));
}

TEST_F(DiscardedFolder, IsNotOfAnotherUserUnderANameOfGsort) {
  leave("dir");
  if (::chown((outside_ / "dir").c_str(), 65534, 65534) != 0) GTEST_SKIP() << "for root only";
  const Error error = test::error_of([&] { const ResumeFolder folder = use("dir"); });
  EXPECT_TRUE(test::contains(error.what(), "belongs to another user")) << error.what();
}

}  // namespace
}  // namespace gsort::io
