#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/input/input.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/sys.hpp"
#include "pipeline/share/join_parts.hpp"
#include "pipeline/share/part_record.hpp"
#include "unit/io/support.hpp"
#include "unit/pipeline/share/at_every.hpp"

namespace gsort {
namespace {

using io::test::bytes_of;
using io::test::read_file;
using test::at_every;

const std::vector kJoinCalls = {io::sys::Call::kOpen, io::sys::Call::kFsync,
                                io::sys::Call::kRename};

// Three parts of six elements in files of their own; one element repeats the one before it.
class OwnParts : public testing::Test {
 protected:
  OwnParts() { begin(); }

  void begin() {
    for (const std::string& output : outputs_) std::filesystem::remove(output);
    io::test::write_file(outputs_[0], bytes_of("old"));
    const char* const texts[] = {"aabb", "cc", "ddee"};
    const std::uint64_t borders[] = {0, 2, 4, 6};
    const char* const firsts[] = {"aa", "cc", "dd"};
    const char* const lasts[] = {"bb", "cc", "ee"};
    for (std::uint32_t part = 0; part < 3; ++part) {
      PartRecord& record = records_[part];
      record.job = kJob;
      record.verified = record.has_own_file = record.is_distinct = true;
      record.part = part;
      record.parts = 3;
      record.elements = 6;
      leave_file(record, texts[part]);
      record.input = {6, 60, 90};
      record.output = {part == 1 ? 1U : 2U, 10 + 10 * part - (part == 1 ? 4U : 0U), 30};
      if (part == 1) record.output.second -= 3;
      if (part == 1) record.repeats = {1, 4, 3};
      record.begin = borders[part];
      record.end = borders[part + 1];
      record.first = firsts[part];
      record.last = lasts[part];
    }
  }

  void leave_file(PartRecord& record, const std::string& text) const {
    const io::OutputPlace place(outputs_[record.part]);
    record.mark = io::sys::random_number();
    io::test::write_file(folder_ / file_name(place.name, record), bytes_of(text));
    record.file_bytes = text.size();
    record.content = io::content_sum_of(0, bytes_of(text));
  }

  void leave_records() const {
    for (const PartRecord& record : records_) {
      const io::OutputPlace place(outputs_[record.part]);
      io::write_record(place, record_name(place.name, record), encode_part(record));
    }
  }

  void begin_again() {
    begin();
    leave_records();
  }

  Fingerprint join() { return join_own_parts("out", outputs_); }

  [[nodiscard]] std::string written() const {
    std::string all;
    for (const std::string& output : outputs_) {
      if (!std::filesystem::exists(output)) continue;
      const auto part = read_file(output);
      all.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
    return all;
  }

  // Expects this error after a change to the record of part 1, and unchanged outputs.
  void expect_error(ErrorKind kind, const std::function<void(PartRecord&)>& change) {
    const PartRecord whole = records_[1];
    change(records_[1]);
    leave_records();
    EXPECT_EQ(io::test::error_of([&] { (void)join(); }).kind(), kind);
    EXPECT_EQ(written(), "old");
    records_[1] = whole;
  }

  static constexpr std::uint64_t kJob = 78;
  io::test::TempFolder folder_;
  const std::vector<std::string> outputs_ = {folder_ / "out0", folder_ / "out1", folder_ / "out2"};
  PartRecord records_[3];
};

TEST_F(OwnParts, GetTheirNamesTogether) {
  leave_records();
  EXPECT_EQ(join(), (Fingerprint{5, 56, 87}));
  EXPECT_EQ(written(), "aabbccddee");
  EXPECT_EQ(folder_.entries().size(), 6U);  // each with its record
}

TEST_F(OwnParts, GetTheirNamesFromTheNextCallWhereOneWasKilled) {
  leave_records();
  // A call that is killed after the first file leaves this.
  const io::OutputPlace place(outputs_[0]);
  io::write_record(place, joined_name(place.name), encode_part(records_[0]));
  std::filesystem::rename(folder_ / file_name(place.name, records_[0]), outputs_[0]);
  EXPECT_EQ(join().count, 5U);
  EXPECT_EQ(written(), "aabbccddee");
  EXPECT_EQ(join().count, 5U);  // nothing is left to do
  EXPECT_EQ(folder_.entries().size(), 6U);
}

// The file of one part was replaced, and that part was taken again.
TEST_F(OwnParts, AreJoinedAgainWhereOneWasTakenAgain) {
  leave_records();
  (void)join();
  io::test::write_file(outputs_[1], bytes_of("xx"));
  EXPECT_EQ(io::test::error_of([&] { (void)join(); }).kind(), ErrorKind::kOutput);
  const io::OutputPlace place(outputs_[1]);
  PartRecord again = records_[1];
  leave_file(again, "cc");
  io::write_record(place, record_name(place.name, again), encode_part(again));
  EXPECT_EQ(join().count, 5U);
  EXPECT_EQ(written(), "aabbccddee");
}

// All of them are looked at before one gets its name.
TEST_F(OwnParts, ReplaceNothingIfAnInputThatOneReplacesHasChanged) {
  io::test::write_file(outputs_[2], bytes_of("in"));
  records_[2].replaced = io::Input(outputs_[2]).state();
  leave_records();
  io::test::write_file(outputs_[2], bytes_of("in, more"));
  EXPECT_EQ(io::test::error_of([&] { (void)join(); }).reason(),
            "it has changed since --form read it");
  EXPECT_EQ(written(), "oldin, more");
}

// At every call another process joins the parts, and a late --take leaves one of them again.
TEST_F(OwnParts, AreJoinedOnceThoughOneComesAgain) {
  const io::OutputPlace place(outputs_[1]);
  bool has_come = false;
  const auto join_and_take = [&] {
    has_come = true;
    (void)join();
    PartRecord late = records_[1];
    leave_file(late, "cc");
    io::write_record(place, record_name(place.name, late), encode_part(late));
  };
  // A part that comes after a join has looked stays, but only until the next one.
  const auto expect_joined = [&] {
    for (int times = 0; times < 2 || has_come; ++times) {
      has_come = false;
      EXPECT_EQ(join().count, 5U);
      EXPECT_EQ(written(), "aabbccddee");
    }
    EXPECT_EQ(folder_.entries().size(), 6U);
  };
  at_every(
      kJoinCalls, [this] { begin_again(); }, join_and_take, expect_joined);
}

TEST_F(OwnParts, AreNotThereBeforeTwoOfThemAreProven) {
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { ++record.output.first; });
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { ++record.repeats.second; });
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { record.first = "bb"; });
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { record.last = "dd"; });
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { record.is_distinct = false; });
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { ++record.begin; });
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { --record.end; });
  expect_error(ErrorKind::kCorrupt, [](PartRecord& record) { record.verified = false; });
  expect_error(ErrorKind::kOutput, [](PartRecord& record) { ++record.mark; });
  expect_error(ErrorKind::kOutput, [](PartRecord& record) { ++record.file_bytes; });
  expect_error(ErrorKind::kOutput, [](PartRecord& record) { record.job = kJob + 1; });
}

TEST_F(OwnParts, EndWhereTheSharesDo) {
  for (PartRecord& record : records_) {
    record.elements = 7;
    record.input = {6, 60, 90};
  }
  leave_records();
  EXPECT_EQ(io::test::error_of([&] { (void)join(); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(OwnParts, HaveElementsThatCanBeCounted) {
  for (PartRecord& record : records_) {
    record.elements = record.output.count = INT64_MAX;
  }
  leave_records();
  EXPECT_EQ(io::test::error_of([&] { (void)join(); }).kind(), ErrorKind::kResource);
}

TEST_F(OwnParts, AreNotTakenForThoseOfAnOlderJoin) {
  leave_records();
  (void)join();
  ++records_[2].job;
  const io::OutputPlace place(outputs_[2]);
  io::write_record(place, record_name(place.name, records_[2]), encode_part(records_[2]));
  EXPECT_TRUE(io::test::contains(io::test::error_of([&] { (void)join(); }).what(), "0, 1 of 3"));
}

// The record of one is that of another part, or of another job.
TEST_F(OwnParts, AreNotJoinedWhereOneIsOfAnotherJoin) {
  leave_records();
  (void)join();
  const io::OutputPlace place(outputs_[2]);
  for (const auto& change : std::initializer_list<void (*)(PartRecord&)>{
           [](PartRecord& record) { ++record.job; }, [](PartRecord& record) { record.part = 1; }}) {
    PartRecord other = records_[2];
    change(other);
    io::write_record(place, joined_name(place.name), encode_part(other));
    EXPECT_EQ(io::test::error_of([&] { (void)join(); }).kind(), ErrorKind::kOutput);
  }
  io::write_record(place, joined_name(place.name), encode_part(records_[2]));
  EXPECT_EQ(join().count, 5U);
}

TEST_F(OwnParts, OfOtherNumbersGoButNotWhatOthersShare) {
  leave_records();
  PartRecord left = records_[2];
  left.part = 7;
  left.parts = 9;
  PartRecord of_others = left;
  of_others.has_own_file = false;
  for (const auto& [output, record] :
       {std::pair("out7", left), std::pair("out2024", of_others), std::pair("out", left)}) {
    const io::OutputPlace place(folder_ / output);
    io::test::write_file(folder_ / file_name(output, record), bytes_of("x"));
    io::write_record(place, record_name(output, record), encode_part(record));
    io::write_record(place, joined_name(output), encode_part(record));
  }
  (void)join_own_parts(folder_ / "out{}", outputs_);
  const auto is_left = [this](const std::string& name) {
    return std::filesystem::exists(folder_ / name);
  };
  EXPECT_FALSE(is_left(file_name("out7", left)));
  EXPECT_FALSE(is_left(record_name("out7", left)));
  EXPECT_TRUE(is_left(joined_name("out7"))) << "it has its name";
  EXPECT_TRUE(is_left(file_name("out2024", of_others)));
  EXPECT_TRUE(is_left(record_name("out2024", of_others)));
  EXPECT_TRUE(is_left(file_name("out", left))) << "it has no number";
}

}  // namespace
}  // namespace gsort
