#include "io/system/temporary_file.hpp"

#include <cerrno>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include "io/system/linkable_file.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

class TemporaryFile : public testing::Test {
 protected:
  const TempFolder temp_;
  const Folder folder_ = open_folder(temp_.path(), ErrorKind::kTemporary);
};

TEST_F(TemporaryFile, HasNoNameButCanGetOne) {
  const NewFile created = create_linkable(folder_, "out", "x");
  ASSERT_TRUE(created.file.is_open());
  if (!created.name.empty()) GTEST_SKIP() << "this file system has no unnamed files";
  EXPECT_TRUE(temp_.entries().empty());
  EXPECT_EQ(created.file.facts().st_mode & 07777U, 0600U);
  EXPECT_EQ(link_as(created.file, folder_, "named"), 0);
  EXPECT_EQ(link_as(created.file, folder_, "named"), EEXIST);
  EXPECT_EQ(temp_.entries(), std::vector<std::string>{"named"});
}

TEST_F(TemporaryFile, LosesItsNameAtOnceWhereItMustHaveOne) {
  const FaultScope fault({sys::Call::kOpen, 1, EOPNOTSUPP});
  const File file = create_unnamed(folder_, "x");
  EXPECT_TRUE(file.is_open());
  EXPECT_TRUE(temp_.entries().empty());
}

TEST_F(TemporaryFile, TriesToRemoveItsNameTwice) {
  const FaultScope fault({sys::Call::kUnlink, 1, EIO});
  sys::inject({sys::Call::kOpen, 1, EOPNOTSUPP});
  EXPECT_NO_THROW((void)create_unnamed(folder_, "x"));
  EXPECT_TRUE(temp_.entries().empty());
}

TEST_F(TemporaryFile, ReportsWhatTheFolderRefuses) {
  const FaultScope fault({sys::Call::kOpen, 1, EMFILE});
  const Error error = error_of([&] { (void)create_unnamed(folder_, "x"); });
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_EQ(error.error_number(), EMFILE);
  EXPECT_EQ(error.path(), temp_.path());
}

TEST_F(TemporaryFile, SaysThatItsFolderIsGone) {
  const TempFolder outside;
  const std::string path = outside / "folder";
  std::filesystem::create_directory(path);
  const Folder folder = open_folder(path, ErrorKind::kOutput);
  std::filesystem::remove(path);
  const FaultScope fault({sys::Call::kOpen, 1, EPERM});  // as ext4 does
  EXPECT_EQ(error_of([&] { (void)create_unnamed(folder, path); }).error_number(), ENOENT);
}

TEST_F(TemporaryFile, ReportsAMissingFolder) {
  EXPECT_EQ(error_of([] { (void)open_folder("/none/such", ErrorKind::kTemporary); }).error_number(),
            ENOENT);
  EXPECT_EQ(error_of([] { (void)open_folder("/dev/null", ErrorKind::kTemporary); }).error_number(),
            ENOTDIR);
}

// A file on its way to "out", and the hidden name it got.
NewFile hidden_on_its_way(const Folder& folder) {
  NewFile file = create_linkable(folder, "out", "x");
  if (file.name.empty()) {
    EXPECT_EQ(link_hidden(file.file, folder, "out", file.name), 0);
  }
  EXPECT_TRUE(file.name.starts_with(".gsort-"));
  return file;
}

TEST_F(TemporaryFile, RemovesTheHiddenNameThatAKilledSortLeft) {
  const std::string left = hidden_on_its_way(folder_).name;  // closed: its lock is gone
  ASSERT_EQ(temp_.entries(), std::vector{left});
  const NewFile next = hidden_on_its_way(folder_);
  EXPECT_EQ(next.name, left);
  EXPECT_EQ(temp_.entries().size(), 1U);
}

TEST_F(TemporaryFile, RemovesItWhereFilesMustHaveNames) {
  const std::string left = hidden_on_its_way(folder_).name;
  const FaultScope fault({sys::Call::kOpen, 1, EOPNOTSUPP});
  const NewFile next = create_linkable(folder_, "out", "x");
  EXPECT_EQ(next.name, left);
  EXPECT_EQ(temp_.entries().size(), 1U);
}

TEST_F(TemporaryFile, LeavesTheHiddenNameOfALiveSort) {
  const NewFile live = hidden_on_its_way(folder_);
  const NewFile next = hidden_on_its_way(folder_);
  EXPECT_NE(next.name, live.name);
  EXPECT_EQ(temp_.entries().size(), 2U);
}

TEST_F(TemporaryFile, RemovesTheHiddenNamesThatTwoKilledSortsLeft) {
  {
    const NewFile first = hidden_on_its_way(folder_);
    const NewFile second = hidden_on_its_way(folder_);
    EXPECT_EQ(temp_.entries().size(), 2U);
  }
  const NewFile next = hidden_on_its_way(folder_);
  EXPECT_EQ(temp_.entries(), std::vector{next.name});
}

TEST_F(TemporaryFile, OnItsWayToAHiddenOneHasANameThatSaysSo) {
  const std::string hidden = ".out.gsort-own-1";
  for (const std::string& target : {hidden, std::string("out"), std::string("out.gsort-own-1")}) {
    NewFile file = create_linkable(folder_, target, "x");
    if (file.name.empty()) {
      ASSERT_EQ(link_hidden(file.file, folder_, target, file.name), 0);
    }
    EXPECT_EQ(file.name == target + ".new0", target == hidden);
    EXPECT_EQ(is_on_its_way(file.name), target == hidden);
    EXPECT_FALSE(is_on_its_way(target));
    remove_if_left(folder_, file.name);
    EXPECT_EQ(temp_.entries(), std::vector{file.name});
    ::unlink((temp_ / file.name).c_str());
  }
  EXPECT_FALSE(is_on_its_way("out.new0"));
  EXPECT_FALSE(is_on_its_way("out.gsort-own-1.new0"));  // others may be the user's
  EXPECT_FALSE(is_on_its_way(hidden + ".new7"));
}

TEST_F(TemporaryFile, LeavesWhatWasPlantedUnderTheHiddenName) {
  const std::string name = hidden_on_its_way(folder_).name;
  const std::string path = temp_ / name;
  test::write_file(temp_ / "victim", test::bytes_of("of somebody"));
  const auto plant = [&](const char* what) {
    ::unlink(path.c_str());
    if (*what == 'l') return ::symlink("victim", path.c_str());
    return *what == 'f' ? ::mkfifo(path.c_str(), 0666) : ::mkdir(path.c_str(), 0777);
  };
  for (const char* const what : {"link", "fifo", "directory"}) {
    ASSERT_EQ(plant(what), 0) << what;
    const NewFile next = hidden_on_its_way(folder_);
    EXPECT_NE(next.name, name) << what;
    EXPECT_EQ(::unlink((temp_ / next.name).c_str()), 0);
    EXPECT_EQ(test::read_file(temp_ / "victim"), test::bytes_of("of somebody")) << what;
  }
}

TEST(LinkableFile, IsRenamedWhereTheFileSystemHasNoLinks) {
  for (const int refused : {EPERM, EOPNOTSUPP}) {
    const TempFolder folder;
    const Folder opened = open_folder(folder.path(), ErrorKind::kOutput);
    constexpr bool kIsHidden = true;
    {
      LinkableFile file(opened, "out", "out", kIsHidden);
      const FaultScope no_links({sys::Call::kLink, 1, refused, true});
      file.put_in_free_place(0);
      EXPECT_TRUE(file.hidden_name().empty());
    }
    EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
    {
      LinkableFile second(opened, "out", "out", kIsHidden);
      const FaultScope no_links({sys::Call::kLink, 1, refused, true});
      EXPECT_THROW(second.put_in_free_place(0), Error);  // the name is taken
    }
    EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
  }
}

TEST(LinkableFile, FindsItsOwnLinkThatIsThereAlready) {
  const TempFolder folder;
  const Folder opened = open_folder(folder.path(), ErrorKind::kOutput);
  LinkableFile file(opened, "out", "out");
  ASSERT_EQ(link_as(file.file(), opened, "out"), 0);
  file.put_in_free_place(0);
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
  LinkableFile other(opened, "out", "out");
  EXPECT_THROW(other.put_in_free_place(0), Error);
}

TEST_F(TemporaryFile, NamesAreHiddenAndDiffer) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(hidden_name());
  EXPECT_EQ(names.size(), 100U);
  EXPECT_TRUE(names.begin()->starts_with(".gsort-"));
}

}  // namespace
}  // namespace gsort::io
