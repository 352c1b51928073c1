#include "io/input/name_list.hpp"

#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using Names = std::vector<std::string>;

class NameList : public testing::Test {
 protected:
  Names read(std::string_view text) {
    write_file(folder_ / "list", test::bytes_of(text));
    return read_name_list(folder_ / "list");
  }
  const TempFolder folder_;
};

TEST_F(NameList, ReadsNamesWithAndWithoutALastNul) {
  const std::string_view open("a\0b c", 5);
  const std::string_view closed("a\0b c\0", 6);
  EXPECT_EQ(read(open), (Names{"a", "b c"}));
  EXPECT_EQ(read(closed), (Names{"a", "b c"}));
}

TEST_F(NameList, KeepsNewlinesAndDashes) {
  EXPECT_EQ(read("one\nname"), (Names{"one\nname"}));
  EXPECT_EQ(read("-"), (Names{"-"}));
}

TEST_F(NameList, ReadsListsLargerThanItsBuffer) {
  Names names(10'000, std::string(50, 'x'));
  std::string text;
  for (const std::string& name : names) text += name + '\0';
  EXPECT_EQ(read(text), names);
}

TEST_F(NameList, TakesThePacketsOfAPipeWhole) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Names names(10'000, std::string(50, 'x'));
  std::jthread writer([&] {
    const int fd = ::open(fifo.c_str(), O_WRONLY);
    ::fcntl(fd, F_SETFL, O_DIRECT);
    for (const std::string& name : names) EXPECT_EQ(::write(fd, name.c_str(), 51), 51);
    ::close(fd);
  });
  EXPECT_EQ(read_name_list(fifo), names);
}

TEST_F(NameList, RefusesEmptyListsAndEmptyNames) {
  const Error none = error_of([&] { (void)read(""); });
  EXPECT_EQ(none.kind(), ErrorKind::kInput);
  EXPECT_TRUE(contains(none.what(), "there are none"));
  const Error empty = error_of([&] { (void)read(std::string_view("a\0\0b", 4)); });
  EXPECT_TRUE(contains(empty.what(), "name 2 is empty"));
  EXPECT_EQ(empty.path(), folder_ / "list");
}

TEST_F(NameList, RefusesANameLongerThanAnyPath) {
  const std::string longest(4'095, 'x');
  EXPECT_EQ(read(longest), (Names{longest}));
  const std::string text = std::string("a\0", 2) + longest + "\x1b";
  const Error error = error_of([&] { (void)read(text); });
  EXPECT_EQ(error.offset_bytes(), 2U);
  EXPECT_TRUE(contains(error.what(), "name 2, 'xxxxxxxxxxxxxxxxxxxxxxxx...', has more than 4095"));
}

TEST_F(NameList, RefusesMoreThanAMillionNames) {
  std::string text;
  for (int i = 0; i < (1 << 20) + 1; ++i) text += std::string_view("y\0", 2);
  const Error error = error_of([&] { (void)read(text); });
  EXPECT_TRUE(contains(error.what(), "there are more than 1048576")) << error.what();
}

}  // namespace
}  // namespace gsort::io
