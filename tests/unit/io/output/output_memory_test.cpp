#include <algorithm>
#include <cerrno>

#include "io/output/output.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

class MemoryOutput : public testing::Test {
 protected:
  Bytes room_ = Bytes(1'000);
  Output output_{
      MemoryResult{"the array", room_.size(), [this](std::uint64_t at, ConstByteSpan from) {
                     std::ranges::copy(from, room_.begin() + static_cast<long>(at));
                   }}};
  Bytes data_ = random_bytes(1'000);
};

TEST_F(MemoryOutput, TakesBytesAtAnyOffsets) {
  output_.prepare(data_.size());
  output_.write_at(600, ConstByteSpan(data_).subspan(600));
  output_.write_at(0, ConstByteSpan(data_).first(600));
  output_.commit(data_.size());
  EXPECT_EQ(room_, data_);
  EXPECT_FALSE(output_.is_stream());
  EXPECT_EQ(output_.folder(), "");
}

TEST_F(MemoryOutput, BeginsAgainUnlessItHasTakenBytes) {
  output_.prepare(data_.size());
  ASSERT_TRUE(output_.restart());
  output_.write_at(10, ConstByteSpan(data_).subspan(10));
  EXPECT_FALSE(output_.restart());
  output_.write_at(0, ConstByteSpan(data_).first(10));
  output_.commit(data_.size());
  EXPECT_EQ(room_, data_);
}

TEST_F(MemoryOutput, TakesFewerBytesThanItHasRoomFor) {
  output_.write_next(ConstByteSpan(data_).first(300));
  output_.write_next(ConstByteSpan(data_).subspan(300, 100));
  output_.commit(400);
  EXPECT_TRUE(std::equal(data_.begin(), data_.begin() + 400, room_.begin()));
  EXPECT_EQ(room_[400], std::byte{0});
}

TEST_F(MemoryOutput, RefusesMoreThanItHasRoomFor) {
  const Error error = error_of([&] { output_.prepare(1'001); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { output_.write_at(1, data_); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { output_.write_at(UINT64_MAX, data_); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.reason(), "the array holds 1,000 bytes, the result needs more");
}

TEST_F(MemoryOutput, NoticesGapsAndOverlaps) {
  output_.write_at(0, ConstByteSpan(data_).first(500));
  EXPECT_EQ(error_of([&] { output_.write_at(499, ConstByteSpan(data_).first(10)); }).kind(),
            ErrorKind::kCorrupt);
  EXPECT_EQ(error_of([&] { output_.commit(501); }).kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error_of([&] { output_.commit(499); }).kind(), ErrorKind::kCorrupt);
}

// The condition comes first: any other stream would wait for the bytes in front.
TEST(NullOutput, TakesBytesInAnyOrder) {
  Output output("/dev/null");
  ASSERT_TRUE(output.is_null());
  EXPECT_FALSE(output.keeps_bytes());
  EXPECT_EQ(output.folder(), "");
  output.write_at(5, bytes_of("later"));
  output.write_at(0, bytes_of("first"));
  output.commit(10);
  EXPECT_FALSE(Output("/dev/zero").is_null());
}

TEST(NullOutput, NoticesGapsAndOverlaps) {
  for (const std::uint64_t bytes : {9U, 11U}) {
    Output output("/dev/null");
    output.write_at(5, bytes_of("later"));
    EXPECT_EQ(error_of([&] { output.commit(5); }).kind(), ErrorKind::kCorrupt);
    output.write_at(0, bytes_of("first"));
    EXPECT_EQ(error_of([&] { output.write_at(9, bytes_of("x")); }).kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error_of([&] { output.commit(bytes); }).kind(), ErrorKind::kCorrupt);
  }
}

TEST(NullOutput, BeginsAgainEvenIfItHasTakenBytes) {
  Output output("/dev/null");
  output.write_at(0, bytes_of("first"));
  ASSERT_TRUE(output.restart());
  output.write_at(0, bytes_of("once"));
  output.commit(4);
}

TEST(NullOutput, ReportsWhatItCouldNotWriteOrClose) {
  Output output("/dev/null");
  {
    const test::FaultScope fault({sys::Call::kPwrite, 1, EIO});
    const Error error = error_of([&] { output.write_at(7, bytes_of("x")); });
    EXPECT_EQ(error.error_number(), EIO);
    EXPECT_EQ(error.offset_bytes(), 7U);
  }
  ASSERT_TRUE(output.restart());
  const test::FaultScope fault({sys::Call::kClose, 1, EIO});
  EXPECT_EQ(error_of([&] { output.commit(0); }).error_number(), EIO);
}

}  // namespace
}  // namespace gsort::io
