#include "io/temporary_file.hpp"

#include <cerrno>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using test::error_of;
using test::FaultScope;
using test::TempFolder;

TEST(TemporaryFile, HasNoNameButCanGetOne) {
  const TempFolder temp;
  const Folder folder = open_folder(temp.path(), ErrorKind::kOutput);
  const NewFile created = create_linkable(folder, "x");
  ASSERT_TRUE(created.file.is_open());
  if (!created.name.empty()) GTEST_SKIP() << "this file system has no unnamed files";
  EXPECT_TRUE(temp.entries().empty());
  EXPECT_EQ(created.file.facts().st_mode & 07777U, 0600U);
  EXPECT_EQ(link_as(created.file, folder, "named"), 0);
  EXPECT_EQ(link_as(created.file, folder, "named"), EEXIST);
  EXPECT_EQ(temp.entries(), std::vector<std::string>{"named"});
}

TEST(TemporaryFile, LosesItsNameAtOnceWhereItMustHaveOne) {
  const TempFolder temp;
  const Folder folder = open_folder(temp.path(), ErrorKind::kTemporary);
  const FaultScope fault({sys::Call::kOpen, 1, EOPNOTSUPP});
  const File file = create_unnamed(folder, "x");
  EXPECT_TRUE(file.is_open());
  EXPECT_TRUE(temp.entries().empty());
}

TEST(TemporaryFile, TriesToRemoveItsNameTwice) {
  const TempFolder temp;
  const Folder folder = open_folder(temp.path(), ErrorKind::kTemporary);
  const FaultScope fault({sys::Call::kUnlink, 1, EIO});
  sys::inject({sys::Call::kOpen, 1, EOPNOTSUPP});
  EXPECT_NO_THROW((void)create_unnamed(folder, "x"));
  EXPECT_TRUE(temp.entries().empty());
}

TEST(TemporaryFile, ReportsWhatTheFolderRefuses) {
  const TempFolder temp;
  const Folder folder = open_folder(temp.path(), ErrorKind::kTemporary);
  const FaultScope fault({sys::Call::kOpen, 1, EMFILE});
  const Error error = error_of([&] { (void)create_unnamed(folder, "x"); });
  EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  EXPECT_EQ(error.error_number(), EMFILE);
  EXPECT_EQ(error.path(), temp.path());
}

TEST(TemporaryFile, ReportsAMissingFolder) {
  EXPECT_EQ(error_of([] { (void)open_folder("/none/such", ErrorKind::kTemporary); }).error_number(),
            ENOENT);
  EXPECT_EQ(error_of([] { (void)open_folder("/dev/null", ErrorKind::kTemporary); }).error_number(),
            ENOTDIR);
}

TEST(TemporaryFile, NamesAreHiddenAndDiffer) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(hidden_name());
  EXPECT_EQ(names.size(), 100U);
  EXPECT_TRUE(names.begin()->starts_with(".gsort-"));
}

}  // namespace
}  // namespace gsort::io
