#include "io/output/shared_file.hpp"

#include <cerrno>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

class SharedOutput : public testing::Test {
 protected:
  SharedOutput() {
    write_file(hidden_, Bytes(24));
    mark_ = mark_shared_output(hidden_);
  }

  TempFolder folder_;
  const std::string hidden_ = folder_ / ".hidden";
  const Bytes bytes_ = random_bytes(24, 1);
  std::uint64_t mark_ = 0;
};

TEST_F(SharedOutput, TakesItsPartsOfTheFile) {
  SharedFile share(hidden_, "out", mark_);
  SharedFile other(hidden_, "out", mark_);
  share.write_at(16, ConstByteSpan(bytes_).subspan(16, 8));
  share.write_at(8, ConstByteSpan(bytes_).subspan(8, 8));
  other.write_at(0, ConstByteSpan(bytes_).first(8));
  share.finish(8, 24);
  other.finish(0, 8);
  EXPECT_EQ(read_file(hidden_), bytes_);
}

TEST_F(SharedOutput, IsRefusedIfAnythingElseIsWritten) {
  for (const auto& [begin, end] : {std::pair{0, 16}, {8, 24}, {4, 16}, {8, 12}, {8, 8}}) {
    SharedFile share(hidden_, "out", mark_shared_output(hidden_));
    share.write_at(8, ConstByteSpan(bytes_).first(8));
    const auto finish = [&, from = begin, to = end] {
      share.finish(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to));
    };
    const Error error = error_of(finish);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.path(), "out");
    EXPECT_EQ(error.hint(), "this is a bug in gsort, please report it; the output was discarded");
  }
}

TEST_F(SharedOutput, IsRefusedIfItIsWrittenTwice) {
  SharedFile share(hidden_, "out", mark_);
  share.write_at(8, ConstByteSpan(bytes_).first(8));
  EXPECT_EQ(error_of([&] { share.write_at(15, ConstByteSpan(bytes_).first(8)); }).kind(),
            ErrorKind::kCorrupt);
}

TEST_F(SharedOutput, IsRefusedIfAnotherProgramMakesItShorter) {
  SharedFile share(hidden_, "out", mark_);
  share.write_at(0, ConstByteSpan(bytes_).first(16));
  write_file(hidden_, {});
  const auto write = [&] { share.write_at(16, ConstByteSpan(bytes_).subspan(16)); };
  EXPECT_EQ(error_of(write).reason(), "another program has made the file shorter");
  EXPECT_EQ(error_of([&] { share.finish(0, 16); }).kind(), ErrorKind::kOutput);
}

TEST_F(SharedOutput, IsRefusedIfItIsAnotherFile) {
  const auto open_with = [&](std::uint64_t mark) { SharedFile(hidden_, "out", mark); };
  EXPECT_EQ(error_of([&] { open_with(mark_ + 1); }).kind(), ErrorKind::kOutput);
  write_file(hidden_, Bytes(4));
  EXPECT_EQ(error_of([&] { open_with(mark_); }).kind(), ErrorKind::kOutput);
  std::filesystem::remove(hidden_);
  EXPECT_EQ(error_of([&] { open_with(mark_); }).kind(), ErrorKind::kOutput);
}

TEST_F(SharedOutput, IsRefusedIfItDoesNotReachTheDisk) {
  SharedFile share(hidden_, "out", mark_);
  share.write_at(0, bytes_);
  const FaultScope fault({sys::Call::kFsync, 1, EIO});
  EXPECT_EQ(error_of([&] { share.finish(0, 24); }).kind(), ErrorKind::kOutput);
}

}  // namespace
}  // namespace gsort::io
