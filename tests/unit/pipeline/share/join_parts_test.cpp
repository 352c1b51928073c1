#include "pipeline/share/join_parts.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/output/shared_file.hpp"
#include "io/system/sys.hpp"
#include "pipeline/share/part_file.hpp"
#include "pipeline/share/part_record.hpp"
#include "pipeline/share/part_state.hpp"
#include "unit/io/support.hpp"
#include "unit/pipeline/share/at_every.hpp"

namespace gsort {
namespace {

using io::test::bytes_of;
using io::test::read_file;
using test::at_every;

const std::vector kCallsOfJoin = {io::sys::Call::kOpen, io::sys::Call::kFsync,
                                  io::sys::Call::kRename};
const std::vector kCallsAndLooks = {io::sys::Call::kOpen, io::sys::Call::kFsync,
                                    io::sys::Call::kRename, io::sys::Call::kStat};

// Two parts of four elements of two bytes, as two processes have left them beside an output that
// holds something else.
class Joined : public testing::Test {
 protected:
  Joined() { begin(); }

  void begin() {
    std::filesystem::remove(output_);
    io::test::write_file(output_, bytes_of("old"));
    records_[0].job = kJob;
    records_[0].file_bytes = 8;
    records_[0].mark = find_or_make_mark(place_, records_[0]);
    const io::SharedFile file(place_, file_name("out", records_[0]), io::SharedFile::Access::kLook);
    file.write_at(0, bytes_of("aabbccdd"));
    for (std::uint32_t part : {0U, 1U}) {
      PartRecord& record = records_[part];
      record.job = kJob;
      record.part = part;
      record.parts = 2;
      record.elements = 4;
      record.file_bytes = 8;
      record.mark = records_[0].mark;
      record.content = io::content_sum_of(4 * part, bytes_of(part == 0 ? "aabb" : "ccdd"));
      record.verified = true;
      record.input = {4, 30, 70};
      record.output = {2, 10 + 10 * part, 35};
      record.begin = part == 0 ? 0 : 2;
      record.end = part == 0 ? 2 : 4;
      record.first = part == 0 ? "aa" : "cc";
      record.last = part == 0 ? "bb" : "dd";
    }
  }

  void leave_records() const {
    for (const PartRecord& record : records_) {
      io::write_record(place_, record_name("out", record), encode_part(record));
    }
  }

  void begin_again() {
    begin();
    leave_records();
  }

  void expect_joined() const {
    EXPECT_EQ(join_parts(output_, 2).count, 4U);
    EXPECT_EQ(read_file(output_), bytes_of("aabbccdd"));
  }

  // The error for records with this change, after which the output must be as it was.
  [[nodiscard]] Error error_with(const std::function<void(PartRecord&)>& change) {
    change(records_[1]);
    leave_records();
    Error error = io::test::error_of([&] { (void)join_parts(output_, 2); });
    EXPECT_EQ(read_file(output_), bytes_of("old"));
    return error;
  }

  [[nodiscard]] std::string hidden() const { return folder_ / file_name("out", records_[0]); }
  [[nodiscard]] io::FileHints hints_of(const std::string& name) const {
    return io::look_beside(place_, name).value().hints;
  }

  static constexpr std::uint64_t kJob = 77;
  io::test::TempFolder folder_;
  const std::string output_ = folder_ / "out";
  const io::OutputPlace place_{output_};
  PartRecord records_[2];
};

TEST_F(Joined, GivesTheSharedFileItsName) {
  leave_records();
  EXPECT_EQ(join_parts(output_, 2), (Fingerprint{4, 30, 70}));
  EXPECT_EQ(read_file(output_), bytes_of("aabbccdd"));
  EXPECT_EQ(folder_.entries().size(), 2U);  // the output and its record
}

TEST_F(Joined, IsDoneWhenItIsRepeated) {
  leave_records();
  (void)join_parts(output_, 2);
  EXPECT_EQ(join_parts(output_, 2).count, 4U);
  leave_records();  // of a process that was late
  EXPECT_EQ(join_parts(output_, 2).count, 4U);
  EXPECT_EQ(folder_.entries().size(), 2U);
}

TEST_F(Joined, StaysTheSameFileThoughAllPartsComeAgain) {
  leave_records();
  (void)join_parts(output_, 2);
  const auto number = io::look_beside(place_, "out")->hints.number;
  const std::uint64_t mark = records_[0].mark + 1;
  for (PartRecord& record : records_) record.mark = mark;
  io::test::write_file(folder_ / file_name("out", records_[0]), bytes_of("aabbccdd"));
  leave_records();
  expect_joined();
  EXPECT_EQ(io::look_beside(place_, "out")->hints.number, number);
  EXPECT_EQ(folder_.entries().size(), 2U);
}

// At every call another process joins the parts, and a late --take then makes the file again, of
// which it writes a part only.
TEST_F(Joined, IsTheFileThatWasCompleteAndNoneOfALateTake) {
  const auto join_and_take = [this] {
    (void)join_parts(output_, 2);
    EXPECT_NE(find_or_make_mark(place_, records_[0]), records_[0].mark);
  };
  at_every(
      kCallsOfJoin, [this] { begin_again(); }, join_and_take, [this] { expect_joined(); });
}

TEST_F(Joined, FailsIfTheHiddenFileIsRemovedMeanwhile) {
  at_every(
      kCallsAndLooks, [this] { begin_again(); }, [this] { std::filesystem::remove(hidden()); },
      [this] {
        bool has_failed = false;
        try {
          (void)join_parts(output_, 2);
        } catch (const Error& error) {
          has_failed = true;
          EXPECT_TRUE(io::test::contains(error.what(), "is missing")) << error.what();
        }
        EXPECT_EQ(read_file(output_), bytes_of(has_failed ? "old" : "aabbccdd"));
      });
}

// Its folder is renamed, and another one gets the name.
TEST_F(Joined, IsInOneFolderThoughThatIsRenamedMeanwhile) {
  const std::string moved = folder_.path() + "-moved";
  at_every(
      kCallsAndLooks, [this] { begin_again(); },
      [&] {
        std::filesystem::rename(folder_.path(), moved);
        std::filesystem::create_directory(folder_.path());
      },
      [&] {
        try {
          (void)join_parts(output_, 2);
        } catch (const Error&) {
          EXPECT_EQ(read_file(moved + "/out"), bytes_of("old"));
        }
        if (!std::filesystem::exists(moved)) return;
        EXPECT_TRUE(folder_.entries().empty());
        std::filesystem::remove_all(folder_.path());
        std::filesystem::rename(moved, folder_.path());
        expect_joined();
      });
}

// Another program writes to the output, or replaces it by a file with the same times.
TEST_F(Joined, IsNotWhatOthersMakeOfItMeanwhile) {
  for (const bool is_other_file : {false, true}) {
    bool is_changed = false;
    at_every(
        kCallsAndLooks,
        [&] {
          is_changed = false;
          begin_again();
        },
        [&] {
          if (read_file(output_) != bytes_of("aabbccdd")) return;
          is_changed = true;
          const auto time = std::filesystem::last_write_time(output_);
          const std::string path = is_other_file ? std::string(folder_ / "other") : output_;
          io::test::write_file(path, bytes_of("aabbccde"));
          std::filesystem::last_write_time(path,
                                           is_other_file ? time : time + std::chrono::seconds(1));
          if (is_other_file) std::filesystem::rename(path, output_);
        },
        [&] {
          (void)join_parts(output_, 2);
          io::sys::clear_faults();
          EXPECT_EQ(is_joined(place_, records_[1]), !is_changed);
        });
  }
}

// Otherwise, a change in the clock tick of the last check would not be seen.
TEST_F(Joined, HasARecordThatIsYounger) {
  for (int times = 0; times < 20; ++times) {
    begin_again();
    (void)join_parts(output_, 2);
    EXPECT_GT(hints_of(joined_name("out")).changed_ns, hints_of("out").changed_ns);
  }
}

// It may be refused only after everything is in place.
TEST_F(Joined, NamesTheOpeningThatWasRefused) {
  bool is_refused = true;
  for (std::uint64_t nth = 1; is_refused; ++nth) {
    begin_again();
    io::sys::inject({.call = io::sys::Call::kOpen, .nth = nth, .error_number = EACCES});
    try {
      (void)join_parts(output_, 2);
    } catch (const Error& error) {
      EXPECT_NE(error.error_number(), EBADF) << "call " << nth;
    }
    is_refused = io::sys::counted_calls() >= nth;
    io::sys::clear_faults();
  }
}

// As a call leaves it that is killed just after it renamed the file.
TEST_F(Joined, IsDoneThoughTheCallWasKilledThatRenamedTheFile) {
  leave_records();
  PartRecord joined = records_[0];
  joined.output = joined.input;
  joined.content += records_[1].content;
  io::write_record(place_, joined_name("out"), encode_part(joined));
  std::filesystem::rename(folder_ / file_name("out", joined), output_);
  expect_joined();
  EXPECT_EQ(folder_.entries().size(), 2U);
}

TEST_F(Joined, DoesNotCountWhenAPartOfAnotherJobWasBegun) {
  for (const std::optional<std::uint64_t> job :
       {std::optional(kJob + 1), std::optional<std::uint64_t>()}) {
    begin_again();
    (void)join_parts(output_, 2);
    forget_joined(place_, kJob);
    expect_joined();
    forget_joined(place_, job);
    EXPECT_EQ(io::test::error_of([&] { (void)join_parts(output_, 2); }).kind(), ErrorKind::kOutput);
    EXPECT_EQ(read_file(output_), bytes_of("aabbccdd"));
  }
}

TEST_F(Joined, IsNotDoneWhereTheOutputIsAnotherFile) {
  leave_records();
  (void)join_parts(output_, 2);
  const auto expect_error = [this] {
    EXPECT_EQ(io::test::error_of([&] { (void)join_parts(output_, 2); }).kind(), ErrorKind::kOutput);
  };
  std::filesystem::resize_file(output_, 7);
  expect_error();
  io::test::write_file(folder_ / "other", bytes_of("aabbccde"));
  std::filesystem::rename(folder_ / "other", output_);
  expect_error();
  io::test::write_file(output_, bytes_of("aabbccdd"));
  EXPECT_EQ(join_parts(output_, 2).count, 4U);
}

TEST_F(Joined, IsKnownByItsJobAndShares) {
  leave_records();
  EXPECT_FALSE(is_joined(place_, records_[1]));
  (void)join_parts(output_, 2);
  EXPECT_TRUE(is_joined(place_, records_[1]));
  for (const auto& change : std::initializer_list<void (*)(PartRecord&)>{
           [](PartRecord& record) { ++record.job; }, [](PartRecord& record) { ++record.parts; },
           [](PartRecord& record) { ++record.input.first; },
           [](PartRecord& record) { record.has_own_file = true; }}) {
    PartRecord other = records_[1];
    change(other);
    EXPECT_FALSE(is_joined(place_, other));
  }
  const auto last_write = std::filesystem::last_write_time(output_);
  const std::fstream file(output_, std::ios::in | std::ios::out);
  file.rdbuf()->sputc('b');
  file.rdbuf()->pubsync();
  std::filesystem::last_write_time(output_, last_write);
  EXPECT_FALSE(is_joined(place_, records_[1])) << "it was written to since";
  file.rdbuf()->pubseekpos(0);
  file.rdbuf()->sputc('a');
  file.rdbuf()->pubsync();
  EXPECT_TRUE(is_joined(place_, records_[1]));
}

TEST_F(Joined, IsReadAgainOnlyIfTheSystemSaysThatItChanged) {
  leave_records();
  (void)join_parts(output_, 2);
  PartRecord joined = read_part(place_, joined_name("out")).value();
  ++joined.content.first;  // not checked
  io::write_record(place_, joined_name("out"), encode_part(joined));
  EXPECT_TRUE(is_joined(place_, records_[1]));
  std::filesystem::permissions(output_, std::filesystem::perms::owner_all);
  EXPECT_FALSE(is_joined(place_, records_[1]));
}

// `began` and `ended` are counted from the last change of the file, at which part 1 ended.
TEST_F(Joined, IsReadBeforeOnlyIfTheFileWasChangedBetweenTheParts) {
  struct Times {
    std::int64_t began[2];
    std::int64_t ended;  // part 0
    bool is_read;
  };
  constexpr std::int64_t kNever = 1;  // the first part of a file has found no change
  for (const Times& times : std::initializer_list<Times>{{{kNever, -7}, -5, false},
                                                         {{kNever, -5}, -5, false},
                                                         {{-7, -7}, -5, false},
                                                         {{0, kNever}, 0, false},
                                                         {{kNever, -4}, -5, true},
                                                         {{-8, -7}, -5, true},
                                                         {{kNever, -7}, 1, true}}) {
    begin();
    const std::int64_t last = hints_of(file_name("out", records_[0])).changed_ns;
    for (const int part : {0, 1}) {
      const std::int64_t began = times.began[part];
      records_[part].began_ns = began == kNever ? 0 : last + began;
    }
    records_[0].ended_ns = last + times.ended;
    records_[1].ended_ns = last;
    ++records_[0].content.first;  // what the file does not hold
    leave_records();
    SCOPED_TRACE(testing::Message() << times.began[0] << ' ' << times.began[1]);
    if (!times.is_read) {
      EXPECT_EQ(join_parts(output_, 2).count, 4U);
      continue;
    }
    const Error error = io::test::error_of([&] { (void)join_parts(output_, 2); });
    EXPECT_TRUE(io::test::contains(error.what(), "was changed after --take wrote it"));
  }
}

TEST_F(Joined, RefusesAChangedFileAndForgetsItsParts) {
  io::test::write_file(hidden(), bytes_of("aabbccde"));
  const Error error = error_with([](PartRecord&) {});
  EXPECT_TRUE(io::test::contains(error.what(), "was changed after --take wrote it"));
  EXPECT_TRUE(place_.folder->names(record_prefix("out")).empty());
}

// Records of another job, of another number of parts, and of parts in files of their own.
TEST_F(Joined, IsNotMadeOfPartsOfOtherKinds) {
  leave_records();
  for (PartRecord& record : records_) {
    PartRecord other = record;
    other.job = kJob + 1;
    other.parts = 3;
    io::write_record(place_, record_name("out", other), encode_part(other));
    other.job = kJob + 2;
    other.parts = 2;
    other.has_own_file = true;
    io::write_record(place_, record_name("out", other), encode_part(other));
  }
  (void)join_parts(output_, 2);
  EXPECT_EQ(read_file(output_), bytes_of("aabbccdd"));
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
  EXPECT_EQ(join_parts(output_, 2), records_[0].output);
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
  EXPECT_EQ(error_with([](PartRecord& record) { ++record.mark; }).kind(), ErrorKind::kOutput);
}

TEST_F(Joined, RefusesAFileThatWasCutOff) {
  std::filesystem::resize_file(folder_ / file_name("out", records_[0]), 7);
  EXPECT_EQ(error_with([](PartRecord&) {}).kind(), ErrorKind::kOutput);
}

TEST_F(Joined, RefusesAMissingPart) {
  const Error error = error_with([](PartRecord& record) { record.part = 0; });
  EXPECT_TRUE(io::test::contains(error.what(), "parts are missing: 1 of "));
}

TEST_F(Joined, IsNotMadeOfARecordWithAnotherName) {
  leave_records();
  const std::string name = record_name("out", records_[1]);
  std::filesystem::rename(folder_ / name, folder_ / (name + "~"));
  const Error error = io::test::error_of([&] { (void)join_parts(output_, 2); });
  EXPECT_TRUE(io::test::contains(error.what(), "parts are missing: 1 of ")) << error.what();
}

TEST_F(Joined, NamesThePartsThatTheJobWithTheMostPartsLacks) {
  for (const std::uint64_t with_one : {kJob - 1, kJob + 1}) {
    begin();
    for (PartRecord& record : records_) {
      record.parts = 3;
      io::write_record(place_, record_name("out", record), encode_part(record));
    }
    PartRecord one = records_[0];
    one.job = with_one;
    io::write_record(place_, record_name("out", one), encode_part(one));
    const Error error = io::test::error_of([&] { (void)join_parts(output_, 3); });
    EXPECT_TRUE(io::test::contains(error.what(), "parts are missing: 2 of ")) << error.what();
    io::remove_beside(place_, record_name("out", one));
  }
}

TEST_F(Joined, IsNotDoneWhereAnotherJobHasBegun) {
  leave_records();
  (void)join_parts(output_, 2);
  io::write_record(place_, record_name("out", records_[0]), encode_part(records_[0]));
  expect_joined();  // that part came late
  io::write_record(place_, record_name("out", records_[0]), encode_part(records_[0]));
  records_[0].job = kJob + 1;
  io::write_record(place_, record_name("out", records_[0]), encode_part(records_[0]));
  const Error error = io::test::error_of([&] { (void)join_parts(output_, 2); });
  EXPECT_TRUE(io::test::contains(error.what(), "parts are missing: 1 of ")) << error.what();
}

TEST_F(Joined, LeavesARecordOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  const std::string name = joined_name("out");
  io::write_record(place_, name, encode_part(records_[0]));
  ASSERT_EQ(::chown((folder_ / name).c_str(), 4321, 4321), 0);
  forget_joined(place_, std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(folder_ / name));
}

TEST_F(Joined, RefusesToChooseBetweenTwoJobs) {
  leave_records();
  for (PartRecord& record : records_) record.job = kJob + 1;
  const Error error = error_with([](PartRecord&) {});
  EXPECT_TRUE(io::test::contains(error.what(), "two jobs")) << error.what();
}

}  // namespace
}  // namespace gsort
