#include "io/runs/resume_folder.hpp"

#include <cerrno>
#include <functional>
#include <memory>

#include <sys/stat.h>
#include <unistd.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr const char* kNames[] = {"gsort.manifest", "gsort.runs"};

Manifest without_runs() {
  Manifest manifest;
  manifest.store = 7;
  manifest.block_elements = 100;
  manifest.element_bytes = 4;
  manifest.job = "a job";
  manifest.inputs = {{"in", 4000, 1}};
  return manifest;
}

// A manifest with one run; then the file of the runs has 12288 bytes.
Manifest with_a_run() {
  Manifest manifest = without_runs();
  manifest.next_run = 1;
  manifest.runs = {{0, {1000, 2, 3}, {8192, 10, 4}}};
  return manifest;
}

constexpr std::size_t kRunsBytes = 12288;

class Resumed : public testing::Test {
 protected:
  Resumed() : path_(outside_ / "dir") {}

  [[nodiscard]] std::string in_folder(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(path_); }
  [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(path_); }
  [[nodiscard]] ResumeFolder use() const { return {path_, ResumeAccess::kUse}; }
  [[nodiscard]] Error error_of_use() const {
    return error_of([&] { const ResumeFolder used = use(); });
  }

  // Leaves the files of an unfinished sort.
  void leave(const Manifest& manifest, std::optional<std::size_t> runs_bytes) const {
    std::filesystem::create_directory(path_);
    write_file(in_folder("gsort.manifest"), encode_manifest(manifest));
    if (runs_bytes) write_file(in_folder("gsort.runs"), Bytes(*runs_bytes, std::byte{1}));
  }

  // The same, in a folder that it made.
  void leave_to_be_removed() const {
    Manifest manifest = without_runs();
    manifest.folder_is_made = true;
    leave(manifest, 0);
  }

  // Continues with the existing files, to the end.
  void finish() const {
    ResumeFolder folder = use();
    Manifest manifest = folder.found().value_or(without_runs());
    folder.begin(manifest);
    folder.remove(manifest);
  }

  const TempFolder outside_;
  const std::string path_;
};

TEST_F(Resumed, FolderAndFilesAreOfTheOwnerAloneWhateverTheUmask) {
  const mode_t saved = ::umask(0);
  for (const mode_t mask : {0U, 077U}) {
    ::umask(mask);
    ResumeFolder folder = use();
    EXPECT_EQ(mode_of(path_), 0700U);
    Manifest manifest = without_runs();
    folder.begin(manifest);
    for (const char* const name : kNames) EXPECT_EQ(mode_of(in_folder(name)), 0600U) << name;
    folder.remove(manifest);
  }
  ::umask(saved);
}

TEST_F(Resumed, FolderThatWasMadeForNothingGoesAgain) {
  {
    const ResumeFolder folder = use();
    EXPECT_TRUE(is_there());
    EXPECT_TRUE(folder.exists());
    EXPECT_FALSE(folder.found().has_value());
  }
  EXPECT_FALSE(is_there());
}

TEST_F(Resumed, FolderThatWasThereStays) {
  std::filesystem::create_directory(path_);
  { const ResumeFolder folder = use(); }
  EXPECT_TRUE(is_there());
  finish();
  ASSERT_TRUE(is_there());
  EXPECT_TRUE(is_empty());
}

TEST_F(Resumed, FolderThatWasMadeGoesAtTheEnd) {
  finish();
  EXPECT_FALSE(is_there());
}

TEST_F(Resumed, FolderThatAnEarlierProcessMadeGoesAtTheEnd) {
  {
    ResumeFolder folder = use();
    Manifest manifest = without_runs();
    folder.begin(manifest);
    EXPECT_TRUE(manifest.folder_is_made);
  }
  EXPECT_TRUE(is_there());
  EXPECT_TRUE(use().found()->folder_is_made);
  finish();
  EXPECT_FALSE(is_there());
}

TEST_F(Resumed, FolderThatWasMadeIsSyncedIntoTheOneAbove) {
  const auto syncs_of_begin = [&] {
    ResumeFolder folder = use();
    Manifest manifest = without_runs();
    const FaultScope counting({sys::Call::kFsync, UINT64_MAX, EIO});
    folder.begin(manifest);
    return sys::counted_calls();
  };
  const std::uint64_t syncs = syncs_of_begin();
  finish();
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  EXPECT_EQ(syncs_of_begin() + 1, syncs);
  finish();
  rmdir(path_.c_str());

  ResumeFolder folder = use();
  Manifest manifest = without_runs();
  const FaultScope fault({sys::Call::kFsync, syncs, EIO});
  const Error error = error_of([&] { folder.begin(manifest); });
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_TRUE(contains(error.what(), path_ + "/.."));
}

TEST_F(Resumed, FolderThatWasMadeDoesNotStayWhereItCannotBeOpened) {
  const FaultScope fault({sys::Call::kOpen, 1, EMFILE});
  EXPECT_EQ(error_of_use().error_number(), EMFILE);
  EXPECT_FALSE(is_there());
}

TEST_F(Resumed, FolderThatWasMadeStaysForAnotherSortThatLockedItFirst) {
  const FaultScope fault({sys::Call::kLock, 1, EWOULDBLOCK});
  EXPECT_EQ(error_of_use().reason(), "another gsort is using it");
  EXPECT_TRUE(is_there());
}

TEST_F(Resumed, FolderWithFilesOfOthersStays) {
  {
    ResumeFolder folder = use();
    Manifest manifest = without_runs();
    folder.begin(manifest);
    write_file(in_folder("notes"), bytes_of("mine"));
    folder.remove(manifest);
  }
  EXPECT_EQ(read_file(in_folder("notes")), bytes_of("mine"));
  for (const char* const name : kNames) EXPECT_FALSE(std::filesystem::exists(in_folder(name)));
}

TEST_F(Resumed, ManifestIsTheLastThatWasSaved) {
  Manifest manifest = with_a_run();
  {
    ResumeFolder folder = use();
    Manifest first = without_runs();
    folder.begin(first);
    folder.runs().write_full_at(Bytes(kRunsBytes), 0);
    manifest.folder_is_made = true;
    folder.save(first);
    folder.save(manifest);
  }
  const ResumeFolder folder = use();
  ASSERT_TRUE(folder.found().has_value());
  EXPECT_EQ(*folder.found(), manifest);
}

TEST_F(Resumed, ManifestStaysWhenTheNextOneCannotBeSaved) {
  const Manifest manifest = with_a_run();
  leave(manifest, kRunsBytes);
  using sys::Call;
  for (const Call call : {Call::kOpen, Call::kPwrite, Call::kFsync, Call::kLink, Call::kRename}) {
    ResumeFolder folder = use();
    const FaultScope fault({call, 1, EIO, true});
    EXPECT_EQ(error_of([&] { folder.save(without_runs()); }).kind(), ErrorKind::kTemporary)
        << name_of(call);
  }
  EXPECT_EQ(*use().found(), manifest);
}

TEST_F(Resumed, FolderIsUsedByOneAtATime) {
  auto first = std::make_unique<ResumeFolder>(path_, ResumeAccess::kUse);
  Manifest manifest = without_runs();
  first->begin(manifest);
  const Error error = error_of_use();
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_TRUE(contains(error.what(), "another gsort is using it")) << error.what();
  const ResumeFolder looked(path_, ResumeAccess::kLook);
  EXPECT_TRUE(looked.found().has_value());
  first.reset();
  EXPECT_TRUE(use().found().has_value());
}

TEST_F(Resumed, FolderWithoutLocksIsTakenAsItIs) {
  const FaultScope fault({sys::Call::kLock, 1, EOPNOTSUPP, true});
  finish();
  EXPECT_FALSE(is_there());
}

TEST_F(Resumed, LookingMakesNothing) {
  const ResumeFolder folder(path_, ResumeAccess::kLook);
  EXPECT_FALSE(folder.exists());
  EXPECT_FALSE(folder.found().has_value());
  EXPECT_FALSE(is_there());
}

TEST_F(Resumed, LookingLeavesWhatIsThere) {
  leave(with_a_run(), kRunsBytes);
  {
    const ResumeFolder folder(path_, ResumeAccess::kLook);
    EXPECT_TRUE(folder.exists());
    EXPECT_EQ(*folder.found(), with_a_run());
  }
  for (const char* const name : kNames) EXPECT_TRUE(std::filesystem::exists(in_folder(name)));
}

TEST_F(Resumed, FolderThatGoesBeforeItIsLockedIsMadeAgain) {
  for (const sys::Call call : {sys::Call::kMkdir, sys::Call::kOpen, sys::Call::kLock}) {
    SCOPED_TRACE(sys::name_of(call));
    leave_to_be_removed();
    const FaultScope at({call, 1, 0, false, [&] { finish(); }});
    {
      ResumeFolder folder = use();
      Manifest manifest = without_runs();
      folder.begin(manifest);
      EXPECT_TRUE(manifest.folder_is_made);
      folder.remove(manifest);
    }
    EXPECT_FALSE(is_there());
  }
}

TEST_F(Resumed, FolderMayBeginOrEndWhileOthersLook) {
  for (const bool ends : {false, true}) {
    for (const sys::Call call : {sys::Call::kOpen, sys::Call::kStat}) {
      bool has_come = true;
      for (std::uint64_t nth = 1; has_come; ++nth) {
        SCOPED_TRACE(testing::Message() << ends << sys::name_of(call) << nth);
        std::filesystem::create_directory(path_);
        if (ends) leave_to_be_removed();
        has_come = false;
        std::unique_ptr<ResumeFolder> other;
        const auto then = [&] {
          has_come = true;
          if (ends) return finish();
          other = std::make_unique<ResumeFolder>(path_, ResumeAccess::kUse);
          Manifest manifest = without_runs();
          other->begin(manifest);
        };
        const FaultScope at({call, nth, 0, false, then});
        const ResumeFolder looked(path_, ResumeAccess::kLook);
        sys::clear_faults();
        EXPECT_EQ(looked.exists(), is_there());
        std::filesystem::remove_all(path_);
      }
    }
  }
}

TEST_F(Resumed, FolderThatCannotBeMadeSaysWhatToDo) {
  const std::string path = outside_ / "missing/dir";
  const Error error = error_of([&] { const ResumeFolder folder(path, ResumeAccess::kUse); });
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_EQ(error.path(), path);
  EXPECT_EQ(error.error_number(), ENOENT);
  EXPECT_TRUE(contains(error.hint(), "name a folder, or a path")) << error.hint();
}

TEST_F(Resumed, FolderThatIsAFileIsRefused) {
  write_file(path_, bytes_of("no folder"));
  for (const ResumeAccess access : {ResumeAccess::kUse, ResumeAccess::kLook}) {
    const Error error = error_of([&] { const ResumeFolder folder(path_, access); });
    EXPECT_EQ(error.error_number(), ENOTDIR);
  }
  EXPECT_EQ(read_file(path_), bytes_of("no folder"));
}

TEST_F(Resumed, FolderThatMayNotBeListedIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may list everything";
  std::filesystem::create_directory(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0300), 0);
  EXPECT_EQ(error_of_use().error_number(), EACCES);
}

TEST_F(Resumed, RunsWithoutAManifestAreRefused) {
  leave(with_a_run(), kRunsBytes);
  std::filesystem::remove(in_folder("gsort.manifest"));
  const Error error = error_of_use();
  EXPECT_TRUE(contains(error.what(), "there is a gsort.runs, but no manifest")) << error.what();
  EXPECT_TRUE(contains(error.hint(), "to start again")) << error.hint();
  EXPECT_EQ(read_file(in_folder("gsort.runs")).size(), kRunsBytes);
}

TEST_F(Resumed, ManifestThatIsNoneIsRefusedWithTheReasonAndStays) {
  const Bytes whole = encode_manifest(with_a_run());
  Bytes damaged = whole;
  damaged.back() ^= std::byte{1};
  const std::pair<Bytes, const char*> kinds[] = {
      {{}, "it is truncated"},
      {{whole.begin(), whole.end() - 1}, "it is truncated"},
      {Bytes(200), "it is not a manifest"},
      {damaged, "its checksum does not match"},
  };
  for (const auto& [bytes, reason] : kinds) {
    leave(with_a_run(), kRunsBytes);
    write_file(in_folder("gsort.manifest"), bytes);
    const Error error = error_of_use();
    EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
    EXPECT_EQ(error.path(), in_folder("gsort.manifest"));
    EXPECT_TRUE(contains(error.what(), reason)) << error.what();
    EXPECT_EQ(read_file(in_folder("gsort.manifest")), bytes);
  }
}

TEST_F(Resumed, ManifestOfGigabytesIsRefusedUnread) {
  leave(without_runs(), std::nullopt);
  std::filesystem::resize_file(in_folder("gsort.manifest"), std::uintmax_t{1} << 40);
  const Error error = error_of_use();
  EXPECT_TRUE(contains(error.what(), "it is too long for a manifest")) << error.what();
}

// A trap that another user may put at the place of a file of gsort, and the message about it.
struct Trap {
  const char* words;
  std::function<void(const std::string& place, const std::string& outside)> set;
};

const Trap kTraps[] = {
    {"Too many levels of symbolic links",
     [](const std::string& place, const std::string& outside) {
       write_file(outside, bytes_of("of somebody"));
       std::filesystem::create_symlink(outside, place);
     }},
    {"has more than one hard link",
     [](const std::string& place, const std::string& outside) {
       write_file(outside, bytes_of("of somebody"));
       std::filesystem::create_hard_link(outside, place);
     }},
    {"is not a regular file",
     [](const std::string& place, const std::string&) {
       ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0);
     }},
    {"s",  // "is not a regular file", or, where it would be written, "Is a directory"
     [](const std::string& place, const std::string&) {
       std::filesystem::create_directory(place);
     }},
};

TEST_F(Resumed, FilesThatAreNotItsOwnAreNeitherFollowedNorChanged) {
  for (const char* const name : kNames) {
    for (const Trap& trap : kTraps) {
      SCOPED_TRACE(testing::Message() << name << ": " << trap.words);
      leave(without_runs(), std::nullopt);
      const std::string victim = outside_ / "victim";
      std::filesystem::remove_all(in_folder(name));
      trap.set(in_folder(name), victim);
      const Error error = error_of([&] { finish(); });
      EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
      EXPECT_EQ(error.path(), in_folder(name));
      EXPECT_TRUE(contains(error.what(), trap.words)) << error.what();
      EXPECT_TRUE(contains(error.hint(), "another folder") || error.error_number() == EISDIR);
      if (std::filesystem::exists(victim)) {
        EXPECT_EQ(read_file(victim), bytes_of("of somebody"));
      }
      std::filesystem::remove_all(path_);
      std::filesystem::remove(victim);
    }
  }
}

TEST_F(Resumed, FilesOfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  for (const char* const name : kNames) {
    leave(without_runs(), 0);
    ASSERT_EQ(::chown(in_folder(name).c_str(), 1234, 2345), 0);
    const Error error = error_of([&] { finish(); });
    EXPECT_EQ(error.path(), in_folder(name));
    EXPECT_TRUE(contains(error.what(), "belongs to another user")) << error.what();
    std::filesystem::remove_all(path_);
  }
}

TEST_F(Resumed, RunsThatAreNotAllThereAreRefused) {
  leave(with_a_run(), std::nullopt);
  EXPECT_TRUE(contains(error_of([&] { finish(); }).what(), "there is no gsort.runs"));
  leave(with_a_run(), kRunsBytes - 1);
  const Error error = error_of([&] { finish(); });
  EXPECT_TRUE(contains(error.what(), "gsort.runs has 12287 bytes, of 12288")) << error.what();
  ResumeFolder read(path_, ResumeAccess::kRead);
  const Error of_reader = error_of([&] { read.open_runs(); });
  EXPECT_EQ(of_reader.reason(), error.reason());
  EXPECT_EQ(of_reader.hint(), "run --form again for this share, in a new folder");
  EXPECT_EQ(std::filesystem::file_size(in_folder("gsort.runs")), kRunsBytes - 1);
  EXPECT_EQ(read_file(in_folder("gsort.manifest")), encode_manifest(with_a_run()));
}

TEST_F(Resumed, WhatLiesBehindTheRunsIsCutOff) {
  leave(with_a_run(), 100'000);
  ResumeFolder folder = use();
  Manifest manifest = *folder.found();
  folder.begin(manifest);
  EXPECT_EQ(folder.runs_end(), kRunsBytes);
  EXPECT_EQ(read_file(in_folder("gsort.runs")), Bytes(kRunsBytes, std::byte{1}));
}

// Gives a file the hidden name that one has on its way to become the manifest, as a crash right
// before the renaming leaves it.
void leave_hidden_name(const std::string& path) {
  const Folder folder = open_folder(path, ErrorKind::kTemporary);
  const NewFile file = create_linkable(folder, "gsort.manifest", path);
  std::string name = file.name;
  if (name.empty()) {
    ASSERT_EQ(link_hidden(file.file, folder, "gsort.manifest", name), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path + "/" + name));
}

TEST_F(Resumed, SortGoesOnAfterACrashBetweenAnyTwoSteps) {
  const std::pair<const char*, std::function<void()>> crashes[] = {
      {"the folder was made", [&] { std::filesystem::create_directory(path_); }},
      {"the first manifest was saved", [&] { leave(without_runs(), std::nullopt); }},
      {"the file of the runs was made", [&] { leave(without_runs(), 0); }},
      {"a run was being written", [&] { leave(without_runs(), 5'000); }},
      {"a run was complete", [&] { leave(with_a_run(), kRunsBytes); }},
      {"the next one was being written", [&] { leave(with_a_run(), 3 * kRunsBytes); }},
      {"the last manifest was saved", [&] { leave(without_runs(), kRunsBytes); }},
      {"the file of the runs was removed", [&] { leave(without_runs(), std::nullopt); }},
  };
  for (const auto& [when, crash] : crashes) {
    for (const bool hidden_name_is_left : {false, true}) {
      SCOPED_TRACE(testing::Message() << when << hidden_name_is_left);
      crash();
      if (hidden_name_is_left) leave_hidden_name(path_);
      finish();
      ASSERT_TRUE(is_there());
      EXPECT_TRUE(is_empty());
      std::filesystem::remove_all(path_);
    }
  }
}

TEST_F(Resumed, FolderWithoutAFileOfRunsIsRemoved) {
  leave(without_runs(), std::nullopt);
  ResumeFolder folder = use();
  folder.remove(*folder.found());
  EXPECT_TRUE(is_empty());
}

TEST_F(Resumed, FilesThatCannotBeRemovedAreAnError) {
  ResumeFolder folder = use();
  Manifest manifest = without_runs();
  folder.begin(manifest);
  const FaultScope fault({sys::Call::kUnlink, 1, EROFS, true});
  const Error error = error_of([&] { folder.remove(manifest); });
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_EQ(error.path(), in_folder("gsort.runs"));
  EXPECT_EQ(error.error_number(), EROFS);
}

}  // namespace
}  // namespace gsort::io
