#include "io/system/access_list.hpp"

#include <cerrno>
#include <initializer_list>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "io/output/output.hpp"
#include "io/output/shared_file.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr const char* kOfFile = "system.posix_acl_access";
constexpr const char* kOfFolder = "system.posix_acl_default";
constexpr std::uint32_t kNobody = 0xffffffff;  // if an entry names no user

struct Entry {
  std::uint16_t who;
  std::uint16_t what;
  std::uint32_t id = kNobody;
};
constexpr std::uint16_t kOwner = 1, kUser = 2, kGroup = 4, kMask = 16, kOthers = 32;

AccessList made_of(std::initializer_list<Entry> entries) {
  AccessList list = {std::byte{2}, {}, {}, {}};
  for (const Entry& entry : entries) {
    const auto bytes = std::as_bytes(std::span(&entry, 1));
    list.insert(list.end(), bytes.begin(), bytes.end());
  }
  return list;
}

const AccessList kNothingForOthers = made_of({{kOwner, 7}, {kGroup, 5}, {kOthers, 0}});
const AccessList kOneUser =
    made_of({{kOwner, 7}, {kUser, 6, 1234}, {kGroup, 4}, {kMask, 7}, {kOthers, 0}});
const AccessList kNothingForGroup =
    made_of({{kOwner, 6}, {kUser, 6, 1234}, {kGroup, 0}, {kMask, 6}, {kOthers, 0}});
const AccessList kLessForAll =
    made_of({{kOwner, 4}, {kUser, 7, 1234}, {kGroup, 7}, {kMask, 5}, {kOthers, 4}});

bool give(const std::string& path, const char* name, const AccessList& list) {
  return ::setxattr(path.c_str(), name, list.data(), list.size(), 0) == 0;
}

// The rights of a file, for all users of it.
struct Rights {
  mode_t mode = 0;
  AccessList list;
  friend bool operator==(const Rights&, const Rights&) = default;
};

Rights rights_of(const std::string& path) {
  struct stat facts = {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0);
  return {facts.st_mode & 07777U, list_of(path).value()};
}

void write_output(const std::string& path) {
  Output output(path);
  output.write_at(0, bytes_of("sorted"));
  output.commit(6);
}

// As --take and --join write it.
void write_shared_file(const std::string& path) {
  const OutputPlace place(path);
  const SharedFile file(place, ".hidden", SharedFile::Access::kMake);
  EXPECT_EQ(rights_of(place.path_of(".hidden")).mode & 077U, 0U);
  file.write_at(0, bytes_of("sorted"));
  EXPECT_TRUE(file.put_in_place());
}

constexpr void (*kWriters[])(const std::string& path) = {write_output, write_shared_file};

class AccessListOf : public testing::Test {
 protected:
  void SetUp() override {
    if (!give(folder_.path(), kOfFolder, kNothingForOthers)) {
      GTEST_SKIP() << "the file system of " << folder_.path() << " has no access lists";
    }
    ::removexattr(folder_.path().c_str(), kOfFolder);
  }

  // A file that write(name) makes, with this fault.
  void expect_rights_of_any_new_file(mode_t mask, const sys::FaultPlan& plan,
                                     void (*write)(const std::string& path)) {
    const std::string plain = folder_ / ("plain" + std::to_string(++number_));
    const std::string ours = folder_ / ("ours" + std::to_string(number_));
    const mode_t saved = ::umask(mask);
    ::close(::open(plain.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    {
      const FaultScope fault(plan);
      write(ours);
    }
    ::umask(saved);
    EXPECT_TRUE(rights_of(ours) == rights_of(plain)) << number_;
  }

  const TempFolder folder_;

 private:
  int number_ = 0;
};

// One half by what the kernel makes of the same folder.
TEST_F(AccessListOf, ANewOutputIsThatOfAnyNewFileInTheFolder) {
  for (const AccessList& list : {kNothingForOthers, kOneUser, kNothingForGroup, kLessForAll}) {
    ASSERT_TRUE(give(folder_.path(), kOfFolder, list));
    for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{077}}) {
      for (const bool is_named : {false, true}) {
        // The third open is that of the unnamed file.
        const sys::FaultPlan plan{sys::Call::kOpen, is_named ? 3U : UINT64_MAX, EOPNOTSUPP};
        expect_rights_of_any_new_file(mask, plan, write_output);
        expect_rights_of_any_new_file(mask, {sys::Call::kOpen, UINT64_MAX}, write_shared_file);
      }
    }
  }
}

TEST_F(AccessListOf, ANewOutputIsSoWhereThatOfTheFolderCannotBeRead) {
  for (const AccessList& list :
       {AccessList(), kNothingForOthers, kOneUser, kNothingForGroup, kLessForAll}) {
    if (!list.empty()) {
      ASSERT_TRUE(give(folder_.path(), kOfFolder, list));
    }
    for (const int error_number : {EPERM, EACCES}) {
      for (const mode_t mask : {mode_t{022}, mode_t{077}}) {
        expect_rights_of_any_new_file(mask, {sys::Call::kAttribute, 1, error_number, true},
                                      write_output);
      }
    }
  }
}

// Opens an output when two more files may be open: its folder, and its file.
Output output_of_two_files(const std::string& path) {
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  struct rlimit saved = {};
  ::getrlimit(RLIMIT_NOFILE, &saved);
  const struct rlimit two_more = {static_cast<rlim_t>(next) + 2, saved.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &two_more);
  Output output(path);
  ::setrlimit(RLIMIT_NOFILE, &saved);
  return output;
}

TEST_F(AccessListOf, ANewOutputNeedsNoMoreFilesThanItsFolderAndItself) {
  const mode_t saved = ::umask(027);
  Output output = output_of_two_files(folder_ / "ours");
  ::umask(saved);
  output.write_at(0, bytes_of("sorted"));
  output.commit(6);
  EXPECT_EQ(rights_of(folder_ / "ours").mode, 0640U);
}

TEST_F(AccessListOf, ANewOutputIsItsOwnersWhereThatCannotBeFoundOut) {
  ASSERT_TRUE(give(folder_.path(), kOfFolder, kOneUser));
  Output output = [&] {
    const FaultScope fault({sys::Call::kAttribute, 1, EACCES});
    return output_of_two_files(folder_ / "ours");  // without a trial
  }();
  EXPECT_TRUE(contains(output.notes().back(), "access list not readable, so the mode"))
      << output.notes().back();
  EXPECT_TRUE(contains(output.notes().back(), "is 600"));
  output.write_at(0, bytes_of("sorted"));
  output.commit(6);
  EXPECT_EQ(rights_of(folder_ / "ours").mode, 0600U);
}

TEST_F(AccessListOf, AnOutputThatIsReplacedStays) {
  const AccessList less_than_group =
      made_of({{kOwner, 6}, {kUser, 7, 1234}, {kGroup, 7}, {kMask, 5}, {kOthers, 4}});
  for (const AccessList& of_folder : {AccessList(), kOneUser}) {
    if (!of_folder.empty()) {
      ASSERT_TRUE(give(folder_.path(), kOfFolder, of_folder));
    }
    for (const AccessList& list : {kNothingForGroup, kOneUser, less_than_group}) {
      for (const auto write : kWriters) {
        write_file(folder_ / "out", bytes_of("old"));
        ASSERT_TRUE(give(folder_ / "out", kOfFile, list));
        const Rights before = rights_of(folder_ / "out");
        write(folder_ / "out");
        EXPECT_TRUE(rights_of(folder_ / "out") == before);
        EXPECT_EQ(before.list, list);
      }
    }
  }
}

TEST_F(AccessListOf, AnOutputWithoutOneGetsNoneOfItsFolder) {
  for (const auto write : kWriters) {
    ::removexattr(folder_.path().c_str(), kOfFolder);
    write_file(folder_ / "out", bytes_of("old"));
    ASSERT_EQ(::chmod((folder_ / "out").c_str(), 0664), 0);
    ASSERT_TRUE(give(folder_.path(), kOfFolder, kOneUser));
    write(folder_ / "out");
    const Rights rights = rights_of(folder_ / "out");
    EXPECT_EQ(rights.mode, 0664U);
    EXPECT_TRUE(rights.list.empty());
  }
}

TEST_F(AccessListOf, AnOutputNeverGivesMoreOnTheWay) {
  ASSERT_TRUE(give(folder_.path(), kOfFolder, kOneUser));
  write_file(folder_ / "replaced", bytes_of("old"));
  ASSERT_TRUE(give(folder_ / "replaced", kOfFile, kNothingForGroup));
  write_file(folder_ / "without", bytes_of("old"));
  ASSERT_EQ(::removexattr((folder_ / "without").c_str(), kOfFile), 0);
  ASSERT_EQ(::chmod((folder_ / "without").c_str(), 0640), 0);
  for (const std::string name : {"new", "replaced", "without"}) {
    for (const sys::Call call : {sys::Call::kAttribute, sys::Call::kMode, sys::Call::kFsync}) {
      Output output(folder_ / name);
      output.write_at(0, bytes_of("sorted"));
      const int fd = file_in(folder_.path());
      ASSERT_GE(fd, 0);
      const std::string self = "/proc/self/fd/" + std::to_string(fd);
      EXPECT_EQ(rights_of(self).mode & 077U, 0U);
      const FaultScope fault({call, 1, EIO});
      EXPECT_EQ(error_of([&] { output.commit(6); }).error_number(), EIO);
      const mode_t mode = rights_of(self).mode;
      const bool has_come = call == sys::Call::kFsync ||
                            (call == sys::Call::kMode && name != "without");  // by the list
      const mode_t most = !has_come ? 0600 : name == "without" ? 0640 : 0660;
      EXPECT_EQ(mode & ~most, 0U) << name;
    }
  }
}

// The list of the one may name users that the other does not know.
TEST_F(AccessListOf, AnOutputWithoutOneGetsNoneOfAFolderThatCannotBeRead) {
  for (const bool may_be_changed : {true, false}) {
    write_file(folder_ / "out", bytes_of("old"));
    ASSERT_EQ(::chmod((folder_ / "out").c_str(), 0664), 0);
    ASSERT_TRUE(give(folder_.path(), kOfFolder, kOneUser));
    std::optional<Output> output;
    {
      const FaultScope fault({sys::Call::kAttribute, 1, EPERM});
      output.emplace(folder_ / "out");
    }
    output->write_at(0, bytes_of("sorted"));
    {
      const FaultScope fault(
          {sys::Call::kAttribute, may_be_changed ? UINT64_MAX : 1, EACCES, true});
      output->commit(6);
    }
    EXPECT_EQ(rights_of(folder_ / "out").mode, may_be_changed ? 0664U : 0644U);
    EXPECT_EQ(rights_of(folder_ / "out").list.empty(), may_be_changed);
  }
}

TEST_F(AccessListOf, AnOutputThatRefusesItGivesNobodyMoreThanOthers) {
  const AccessList list =
      made_of({{kOwner, 6}, {kUser, 6, 1234}, {kGroup, 6}, {kMask, 6}, {kOthers, 4}});
  for (const int error_number : {EINVAL, EPERM, EACCES, EOPNOTSUPP}) {
    for (const bool always : {false, true}) {
      write_file(folder_ / "out", bytes_of("old"));
      ASSERT_TRUE(give(folder_ / "out", kOfFile, list));
      ASSERT_TRUE(give(folder_.path(), kOfFolder, kOneUser));
      Output output(folder_ / "out");
      output.write_at(0, bytes_of("sorted"));
      {
        const FaultScope fault({sys::Call::kAttribute, 1, error_number, always});
        EXPECT_NO_THROW(output.commit(6));
      }
      const Rights rights = rights_of(folder_ / "out");
      EXPECT_EQ(rights.mode, 0644U);  // with a list, the bound of all that it names
      EXPECT_EQ(rights.list.empty(), !always);
    }
  }
}

TEST_F(AccessListOf, ANewOutputThatRefusesItKeepsThatOfTheFolder) {
  for (const AccessList& list : {kNothingForOthers, kOneUser, kNothingForGroup, kLessForAll}) {
    ASSERT_TRUE(give(folder_.path(), kOfFolder, list));
    ::unlink((folder_ / "ours").c_str());
    ::unlink((folder_ / "plain").c_str());
    ::close(::open((folder_ / "plain").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    Output output(folder_ / "ours");
    output.write_at(0, bytes_of("sorted"));
    {
      const FaultScope fault({sys::Call::kAttribute, 1, EINVAL, true});
      EXPECT_NO_THROW(output.commit(6));
    }
    EXPECT_TRUE(rights_of(folder_ / "ours") == rights_of(folder_ / "plain"));
  }
}

TEST_F(AccessListOf, AGroupThatCannotBeKeptMayDoNoMoreThanOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  const AccessList list =
      made_of({{kOwner, 6}, {kUser, 6, 1234}, {kGroup, 6}, {kMask, 6}, {kOthers, 4}});
  write_file(folder_ / "out", bytes_of("old"));
  ASSERT_EQ(::chown((folder_ / "out").c_str(), 1234, 2345), 0);
  ASSERT_TRUE(give(folder_ / "out", kOfFile, list));
  Output output(folder_ / "out");
  output.write_at(0, bytes_of("x"));
  const FaultScope fault({sys::Call::kMode, 1, EPERM, true});
  EXPECT_THROW(output.commit(1), Error);  // the mode cannot be set, either; the list is by then
  const std::string self = "/proc/self/fd/" + std::to_string(file_in(folder_.path()));
  AccessList now(1000);
  const ssize_t bytes = ::getxattr(self.c_str(), kOfFile, now.data(), now.size());
  ASSERT_GT(bytes, 0);
  now.resize(static_cast<std::size_t>(bytes));
  EXPECT_EQ(now, made_of({{kOwner, 6}, {kUser, 6, 1234}, {kGroup, 4}, {kMask, 6}, {kOthers, 4}}));
}

// A set-uid bit gives rights to whoever runs the file: only an owner who gave it keeps it.
TEST(AccessList, DoesNotComeWithSetIdsOfAnotherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  const TempFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  for (const auto write : kWriters) {
    write_file(folder / "out", bytes_of("old"));
    ASSERT_EQ(::chown((folder / "out").c_str(), 1234, 2345), 0);
    ASSERT_EQ(::chmod((folder / "out").c_str(), 06777), 0);
    write(folder / "out");  // root keeps the owner
    EXPECT_EQ(rights_of(folder / "out").mode, 06777U);
    ASSERT_EQ(::seteuid(4321), 0);
    write(folder / "out");
    ASSERT_EQ(::seteuid(0), 0);
    EXPECT_EQ(rights_of(folder / "out").mode, 0777U);
  }
}

TEST(AccessList, IsNeverGuessed) {
  const TempFolder folder;
  write_file(folder / "out", bytes_of("old"));
  for (const std::uint64_t nth : {1U, 2U}) {  // that of the folder, and that of the file
    const FaultScope fault({sys::Call::kAttribute, nth, EIO});
    const Error error = error_of([&] { const Output output(folder / "out"); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_TRUE(contains(error.what(), "reading the access list of " + folder.path()));
  }
}

TEST(AccessList, ThatMayNotBeReadGivesTheGroupNoMoreThanOthers) {
  const TempFolder folder;
  for (const int error_number : {EPERM, EACCES, ENOENT}) {
    write_file(folder / "out", bytes_of("old"));
    ASSERT_EQ(::chmod((folder / "out").c_str(), 0664), 0);
    const FaultScope fault({sys::Call::kAttribute, 2, error_number});  // that of the file
    EXPECT_NO_THROW(write_output(folder / "out"));
    const mode_t mode = error_number == ENOENT ? 0664 : 0644;  // the file is gone: there is none
    EXPECT_EQ(rights_of(folder / "out").mode, mode) << error_number;
  }
}

TEST(AccessList, IsNoneWhereTheFileSystemHasNone) {
  const TempFolder folder;
  for (const int error_number : {EOPNOTSUPP, ENODATA, ENOSYS}) {
    const FaultScope fault({sys::Call::kAttribute, 1, error_number, true});
    EXPECT_EQ(list_of(folder.path()), AccessList());
    EXPECT_NO_THROW(write_output(folder / "out"));
  }
}

TEST(AccessList, OfANewFileIsCutToItsMode) {
  EXPECT_EQ(list_of_new_file(kOneUser, 0666),
            made_of({{kOwner, 6}, {kUser, 6, 1234}, {kGroup, 4}, {kMask, 6}, {kOthers, 0}}));
  EXPECT_EQ(list_of_new_file(kNothingForOthers, 0666),
            made_of({{kOwner, 6}, {kGroup, 4}, {kOthers, 0}}));
  EXPECT_TRUE(list_of_new_file({}, 0666).empty());
}

}  // namespace
}  // namespace gsort::io
