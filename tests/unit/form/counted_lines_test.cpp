#include "form/counted_lines.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

// Room behind the text, as its readers have it.
std::optional<BadLine> parse(std::string text, std::vector<std::byte>& pairs) {
  const std::size_t bytes = text.size();
  text.append(kTextSlack, '\0');
  return parse_counted_lines(std::string_view(text).substr(0, bytes), {KeyType::kI16, true}, pairs);
}

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

TEST(CountedLines, AreReadAsKeysWithTheirCounts) {
  std::vector<std::byte> pairs(40);
  EXPECT_FALSE(parse("3\t-2\n     258 007\n18446744073709551615 \t 1 \r\n0\t0\n", pairs));
  EXPECT_EQ(pairs, bytes_of({0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0,    3,    0,    7,    0,    0,
                             0,    0,    0, 0, 1, 2, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                             0xff, 0xff, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0}));
}

TEST(CountedLines, OfAnythingElseAreBad) {
  for (const char* const bad :
       {"\n", "  \n", "3\n", "3\t\n", "\t3\n", "-3\t1\n", "+3\t1\n", "3,1\n", "3\t1\t1\n",
        "3\t40000\n", "18446744073709551616\t1\n", "3x\t1\n", "3.0\t1\n"}) {
    std::vector<std::byte> pairs(20);
    const auto found = parse(std::string("1\t1\n") + bad, pairs);
    ASSERT_TRUE(found) << bad;
    EXPECT_EQ(found->line, 1U) << bad;
    EXPECT_EQ(found->begin, 4U) << bad;
  }
}

}  // namespace
}  // namespace gsort
