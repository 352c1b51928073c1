#include "pipeline/share/join_parts.hpp"

#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "io/output/shared_file.hpp"
#include "pipeline/share/part_record.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using io::test::bytes_of;
using io::test::read_file;

// Two parts of four elements of two bytes, as two processes have left them beside an output that
// holds something else.
class Joined : public testing::Test {
 protected:
  Joined() {
    io::test::write_file(output_, bytes_of("old"));
    const io::SharedFile file(place_, shared_name("out", kJob), io::SharedFile::Access::kWrite);
    file.grow_to(8);
    file.write_at(0, bytes_of("aabbccdd"));
    for (std::uint32_t part : {0U, 1U}) {
      PartRecord& record = records_[part];
      record = {kJob,
                part,
                2,
                4,
                8,
                file.number(),
                true,
                {4, 30, 70},
                {2, 10 + 10 * part, 35},
                part == 0 ? 0U : 2U,
                part == 0 ? 2U : 4U,
                part == 0 ? "aa" : "cc",
                part == 0 ? "bb" : "dd"};
    }
  }

  void leave_records() const {
    for (const PartRecord& record : records_) {
      io::write_record(place_, record_name("out", record), encode_part(record));
    }
  }

  // The error for records with this change, after which the output must be as it was.
  [[nodiscard]] Error error_with(const std::function<void(PartRecord&)>& change) {
    change(records_[1]);
    leave_records();
    Error error = io::test::error_of([&] { (void)join_parts(output_, 2); });
    EXPECT_EQ(read_file(output_), bytes_of("old"));
    return error;
  }

  static constexpr std::uint64_t kJob = 77;
  io::test::TempFolder folder_;
  const std::string output_ = folder_ / "out";
  const io::OutputPlace place_ = io::place_of(output_);
  PartRecord records_[2];
};

TEST_F(Joined, GivesTheSharedFileItsName) {
  leave_records();
  const JoinedParts joined = join_parts(output_, 2);
  EXPECT_EQ(joined.elements, 4U);
  EXPECT_EQ(joined.bytes, 8U);
  EXPECT_EQ(joined.fingerprint, (Fingerprint{4, 30, 70}));
  EXPECT_EQ(read_file(output_), bytes_of("aabbccdd"));
  EXPECT_EQ(folder_.entries().size(), 2U);  // the output and its record
}

TEST_F(Joined, IsDoneWhenItIsRepeated) {
  leave_records();
  (void)join_parts(output_, 2);
  EXPECT_EQ(join_parts(output_, 2).elements, 4U);
  leave_records();  // of a process that was late
  EXPECT_EQ(join_parts(output_, 2).elements, 4U);
  EXPECT_EQ(folder_.entries().size(), 2U);
}

TEST_F(Joined, IsNotDoneWhereTheOutputIsAnotherFile) {
  leave_records();
  (void)join_parts(output_, 2);
  std::filesystem::remove(output_);
  io::test::write_file(output_, bytes_of("other"));
  EXPECT_EQ(io::test::error_of([&] { (void)join_parts(output_, 2); }).kind(), ErrorKind::kOutput);
}

TEST_F(Joined, RefusesPartsThatAreOutOfOrder) {
  EXPECT_EQ(error_with([](PartRecord& record) { record.first = "ab"; }).kind(),
            ErrorKind::kCorrupt);
}

TEST_F(Joined, RefusesOtherElementsThanTheSharesHave) {
  EXPECT_EQ(error_with([](PartRecord& record) { ++record.output.first; }).kind(),
            ErrorKind::kCorrupt);
}

TEST_F(Joined, RefusesPartsOfOtherShares) {
  for (const auto& change : std::initializer_list<void (*)(PartRecord&)>{
           [](PartRecord& record) { ++record.input.second; },
           [](PartRecord& record) { ++record.elements; },
           [](PartRecord& record) { ++record.file_bytes; }}) {
    const PartRecord whole = records_[1];
    EXPECT_EQ(error_with(change).kind(), ErrorKind::kCorrupt);
    records_[1] = whole;
  }
}

TEST_F(Joined, TakesAPartWithoutElements) {
  records_[0].output = records_[0].input;
  records_[0].end = 4;
  records_[0].last = "dd";
  records_[1].output = {};
  records_[1].begin = 4;
  records_[1].first = records_[1].last = "";
  leave_records();
  EXPECT_EQ(join_parts(output_, 2).fingerprint, records_[0].output);
}

TEST_F(Joined, RefusesGapsAndOverlaps) {
  for (const std::uint64_t begin : {1U, 3U}) {
    EXPECT_EQ(error_with([&](PartRecord& record) { record.begin = begin; }).kind(),
              ErrorKind::kCorrupt);
  }
}

TEST_F(Joined, RefusesAPartThatWasNotVerified) {
  EXPECT_EQ(error_with([](PartRecord& record) { record.verified = false; }).kind(),
            ErrorKind::kCorrupt);
}

TEST_F(Joined, RefusesAPartInAnotherFile) {
  EXPECT_EQ(error_with([](PartRecord& record) { ++record.file_number; }).kind(),
            ErrorKind::kOutput);
}

TEST_F(Joined, RefusesAMissingPart) {
  const Error error = error_with([](PartRecord& record) { record.part = 0; });
  EXPECT_TRUE(io::test::contains(error.what(), "parts are missing: 1 of "));
}

TEST_F(Joined, KnowsARecordByItsChecksum) {
  const std::string text = encode_part(records_[0]);
  EXPECT_EQ(parse_part(text), records_[0]);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] ^= 1;
    EXPECT_FALSE(parse_part(damaged)) << at;
    EXPECT_FALSE(parse_part(text.substr(0, at))) << at;
  }
}

}  // namespace
}  // namespace gsort
