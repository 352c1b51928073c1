#include "io/system/process.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gsort::io {
namespace {

// In a process of its own: whether the numbers in `closed` are taken afterwards, and of no use.
void close_and_occupy(const std::array<bool, 3>& closed) {
  for (int fd = 0; fd < 3; ++fd) {
    if (closed.at(static_cast<std::size_t>(fd))) ::close(fd);
  }
  take_process();
  const int next = ::dup(0);
  char byte = 0;
  const auto is_no_use = [&](int fd) {
    const ssize_t moved = fd == 0 ? ::read(fd, &byte, 1) : ::write(fd, &byte, 1);
    return moved < 0 && errno == EBADF;
  };
  bool right = next > 2;
  for (int fd = 0; fd < 3; ++fd) {
    if (closed.at(static_cast<std::size_t>(fd))) right = right && is_no_use(fd);
  }
  std::_Exit(right ? 0 : 1);
}

TEST(Process, OccupiesClosedDescriptorsByWhatCannotBeUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (unsigned mask = 0; mask < 8; ++mask) {
    const std::array<bool, 3> closed{(mask & 1U) != 0, (mask & 2U) != 0, (mask & 4U) != 0};
    EXPECT_EXIT(close_and_occupy(closed), testing::ExitedWithCode(0), "") << mask;
  }
}

// By default, after a piece of some size is freed, the C library keeps later ones of this size.
void free_and_allocate() {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  take_process();
  void* volatile first = std::malloc(kBytes);
  std::free(first);
  const std::size_t before = ::mallinfo2().hblks;  // pieces that come from the system
  void* const piece = std::malloc(kBytes);
  const bool right = piece != nullptr && ::mallinfo2().hblks == before + 1;
  std::_Exit(right ? 0 : 1);
}

TEST(Process, GivesLargePiecesOfMemoryBackToTheSystem) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has an allocator of its own";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(free_and_allocate(), testing::ExitedWithCode(0), "");
}

TEST(Process, HasTheUmaskThatWasSet) {
  for (const mode_t mask : {mode_t{0}, mode_t{027}, mode_t{0777}}) {
    const mode_t saved = ::umask(mask);
    EXPECT_EQ(file_mode_mask(), mask);
    EXPECT_EQ(::umask(saved), mask);
  }
}

}  // namespace
}  // namespace gsort::io
