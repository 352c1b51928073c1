#include "pipeline/share/part_record.hpp"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "form/valid_format.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

PartRecord some_record() {
  PartRecord record;
  record.job = 77;
  record.part = 1;
  record.parts = 3;
  record.elements = 4;
  record.file_bytes = 8;
  record.mark = 0xfedcba9876543210;
  record.verified = true;
  record.input = {4, 30, 70};
  record.output = {2, 10, 35};
  record.begin = 1;
  record.end = 3;
  record.content = {5, 6};
  record.began_ns = 12;
  record.ended_ns = -13;
  record.hints = {7, -8, 9};
  record.replaced = {10, -11};
  record.first = "aa";
  record.last = std::string("\0z", 2);
  return record;
}

TEST(PartRecord, IsKnownByItsChecksum) {
  const std::string text = encode_part(some_record());
  EXPECT_EQ(parse_part(text), some_record());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] ^= 1;
    EXPECT_FALSE(parse_part(damaged)) << at;
    EXPECT_FALSE(parse_part(text.substr(0, at))) << at;
  }
}

TEST(PartRecord, HasNumbersThatCanBe) {
  for (const auto& change : std::initializer_list<void (*)(PartRecord&)>{
           [](PartRecord& record) { record.part = 3; },
           [](PartRecord& record) { record.parts = kMostShares + 1; },
           [](PartRecord& record) { record.begin = 4; }, [](PartRecord& record) { record.end = 5; },
           [](PartRecord& record) { record.elements = record.end = UINT64_MAX; },
           [](PartRecord& record) { record.file_bytes = UINT64_MAX; },
           [](PartRecord& record) { record.input.count = UINT64_MAX; },
           [](PartRecord& record) { record.output.count = 5; },
           [](PartRecord& record) { record.repeats.count = UINT64_MAX; }}) {
    PartRecord record = some_record();
    change(record);
    EXPECT_FALSE(parse_part(encode_part(record))) << encode_part(record);
  }
}

TEST(PartRecord, OfAnotherUserIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  const io::test::TempFolder folder;
  const io::OutputPlace place(folder / "out");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  io::write_record(place, "record", encode_part(some_record()));
  const auto read_as = [&](uid_t user) {
    EXPECT_EQ(::seteuid(user), 0);
    const auto found = read_part(place, "record");
    EXPECT_EQ(::seteuid(0), 0);
    return found;
  };
  EXPECT_FALSE(read_as(4321)) << "only root may read it";
  ASSERT_EQ(::chmod((folder / "record").c_str(), 0644), 0);
  EXPECT_EQ(read_as(4321), some_record()) << "root may do anything";
  ASSERT_EQ(::chown((folder / "record").c_str(), 4321, 4321), 0);
  EXPECT_EQ(read_as(4321), some_record());
  EXPECT_FALSE(read_as(4322));
  EXPECT_FALSE(read_as(0));
}

TEST(PartRecord, IsHiddenUnderNamesOfItsOutputAlone) {
  PartRecord record = some_record();
  for (const std::string output : {"x", "x.gsort-part", "x.gsort-parts-0123", ".x"}) {
    for (const bool has_own_file : {false, true}) {
      record.has_own_file = has_own_file;
      for (const std::string& name :
           {file_name(output, record), record_name(output, record), mark_name(output, record, {}),
            mark_name(output, record, 5), joined_name(output)}) {
        for (const std::string& hidden : {name, name + ".new0", name + ".new3"}) {
          for (const std::string other : {"x", "x.gsort-part", "x.gsort-parts-0123", ".x"}) {
            EXPECT_EQ(is_hidden_name(other, hidden), other == output) << other << ' ' << hidden;
          }
        }
        EXPECT_FALSE(is_hidden_name(output, name + ".new4"));
      }
    }
    EXPECT_FALSE(is_hidden_name(output, hidden_prefix(output) + "part-of-a-diary"));
    EXPECT_FALSE(is_hidden_name(output, output));
  }
}

}  // namespace
}  // namespace gsort
