// The library in a program of somebody else: what belongs to the whole process stays as it is, and
// calls may come when the program is about to end.
#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "library/gsort.h"
#include "library/sort_file.hpp"
#include "library/sort_keys.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace {

std::atomic<int> umask_calls{0};

}  // namespace

// In the place of the C library's.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace gsort {
namespace {

using io::test::read_file;
using io::test::TempFolder;
using io::test::write_file;

constexpr KeyFormat kU32{KeyType::kU32};

test::Bytes keys_of(std::size_t count) {
  return test::generated(kU32, Distribution::kUniform, count);
}

// Several threads sort, and runs are spilled, where the input is larger than that.
constexpr const char* kMemory = "16M";

gsort_status sort_in_c(const std::string& input, const std::string& output) {
  const char* const inputs[] = {input.c_str()};
  const char* const options[] = {"-S", kMemory, nullptr};
  return gsort_sort(inputs, 1, output.c_str(), options, nullptr);
}

SortedFile sort_in_cpp(const std::string& input, const std::string& output) {
  Options options;
  options.inputs = {input};
  options.output = output;
  options.key.type = KeyType::kU32;
  options.buffer_size = kMemory;
  return sort_file(options);
}

// The signals that have handlers, as the kernel writes them.
std::string caught_signals() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:")) return line;
  }
  return {};
}

TEST(Guest, LeavesSignalsAndTheUmaskAlone) {
  const TempFolder folder;
  const std::string input = folder / "in.u32";
  write_file(input, keys_of(1000));
  umask_calls = 0;
  std::atomic<bool> done{false};
  int changes = 0;
  std::thread watch([&] {  // the first thread is given handlers by the C library
    const std::string before = caught_signals();
    EXPECT_NE(before, "");
    while (!done) changes += caught_signals() == before ? 0 : 1;
  });
  for (int sort = 0; sort < 200; ++sort) {
    EXPECT_EQ(sort_in_c(input, folder / "c.u32"), GSORT_DONE) << gsort_error_message();
    EXPECT_NO_THROW(sort_in_cpp(input, folder / "cpp.u32"));
  }
  done = true;
  watch.join();
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(umask_calls, 0);
}

// As -ffast-math sets it at the start of a program, where the processor has it.
void flush_denormals() {
#if defined(__SSE2__)
  constexpr unsigned kFlushToZeroAndDenormalsAreZero = 0x8040;
  _mm_setcsr(_mm_getcsr() | kFlushToZeroAndDenormalsAreZero);
#endif
}

TEST(Guest, ConvertsFloatsAsUsualWhateverTheProgramHasSet) {
  const TempFolder folder;
  const auto written = [&](const std::string& from, const std::string& to, const char* form) {
    const char* const inputs[] = {from.c_str()};
    const char* const options[] = {"-t", "f64", "--float-order=total", form, nullptr};
    EXPECT_EQ(gsort_sort(inputs, 1, to.c_str(), options, nullptr), GSORT_DONE)
        << gsort_error_message();
    return read_file(to);
  };
  const auto keys = test::generated({KeyType::kF64}, Distribution::kRandomWidth, 5000);
  write_file(folder / "in.f64", keys);
  const auto text = written(folder / "in.f64", folder / "usual.txt", "--format=bin:text");
  const auto binary = written(folder / "usual.txt", folder / "usual.f64", "--format=text:bin");
  std::fenv_t usual{};
  std::fegetenv(&usual);
  std::fesetround(FE_UPWARD);
  flush_denormals();
  const auto text_now = written(folder / "in.f64", folder / "now.txt", "--format=bin:text");
  const auto binary_now = written(folder / "usual.txt", folder / "now.f64", "--format=text:bin");
  const int rounding = std::fegetround();
  std::fesetenv(&usual);
  EXPECT_EQ(rounding, FE_UPWARD);
  EXPECT_TRUE(text_now == text);
  EXPECT_TRUE(binary_now == binary);
}

TEST(Guest, LeavesTheLimitOfOpenFilesAlone) {
  const TempFolder folder;
  write_file(folder / "in.u32", keys_of(1000));
  struct rlimit saved = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &saved), 0);
  ASSERT_GT(saved.rlim_max, 100U);
  const struct rlimit few = {100, saved.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const std::string input = folder / "in.u32";
  const std::vector<const char*> inputs(200, input.c_str());
  const gsort_status status =
      gsort_sort(inputs.data(), inputs.size(), (folder / "out.u32").c_str(), nullptr, nullptr);
  struct rlimit after = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &saved), 0);
  EXPECT_EQ(status, GSORT_DONE) << gsort_error_message();
  EXPECT_EQ(after.rlim_cur, 100U);
}

// Only a command line reads it.
TEST(Guest, DoesNotReadTheEnvironment) {
  const TempFolder folder;
  write_file(folder / "in.u32", keys_of(6'000'000));
  ASSERT_EQ(::setenv("TMPDIR", (folder / "gone").c_str(), 1), 0);
  ASSERT_EQ(::setenv("GSORT_OPTIONS", "--nonsense", 1), 0);
  EXPECT_EQ(sort_in_c(folder / "in.u32", folder / "c.u32"), GSORT_DONE) << gsort_error_message();
  const std::uint64_t spilled = sort_in_cpp(folder / "in.u32", folder / "cpp.u32").spilled_bytes;
  ::unsetenv("TMPDIR");
  ::unsetenv("GSORT_OPTIONS");
  EXPECT_GT(spilled, 0U);
}

void sort_in_memory() {
  std::vector<std::uint32_t> falling(1 << 19);
  for (std::size_t i = 0; i < falling.size(); ++i) {
    falling[i] = static_cast<std::uint32_t>(falling.size() - i);
  }
  constexpr unsigned kThreads = 4;
  sort_keys<std::uint32_t>(falling, Order::kAscending, kThreads);
  std::vector<std::uint32_t> both(2 * falling.size());
  merge_keys<std::uint32_t>(falling, falling, both, Order::kAscending, kThreads);
  for (std::size_t i = 0; i < both.size(); ++i) ASSERT_EQ(both[i], 1 + i / 2);
}

// Sorts through every door.
void sort_everything() {
  const TempFolder folder;
  const test::Bytes keys = keys_of(3'000'000);
  write_file(folder / "in.u32", keys);
  ASSERT_EQ(sort_in_c(folder / "in.u32", folder / "c.u32"), GSORT_DONE) << gsort_error_message();
  ASSERT_NO_THROW(sort_in_cpp(folder / "in.u32", folder / "cpp.u32"));
  const test::Bytes expected = test::sorted_copy(keys, kU32);
  ASSERT_EQ(read_file(folder / "c.u32"), expected);
  ASSERT_EQ(read_file(folder / "cpp.u32"), expected);
  ASSERT_NO_THROW(sort_in_memory());
  ASSERT_EQ(sort_in_c(folder / "none.u32", folder / "none"), GSORT_ERROR);
  ASSERT_NE(std::string(gsort_error_message()).find("none.u32: No such file"), std::string::npos)
      << gsort_error_message();
}

// The result of a child: its status, or the signal that has ended it.
int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// Forks, and calls `sort` in the child, which ends by SIGALRM if the call does not return. Returns
// the child's status.
int status_of_fork(const std::function<void()>& sort) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    sort();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  EXPECT_GT(child, 0);
  return status_of(child);
}

// A child keeps the locks of AddressSanitizer's allocator that other threads held during the fork.
// No thread releases them, so the first allocation of the child may wait forever.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kMayForkDuringSorts = false;
#else
constexpr bool kMayForkDuringSorts = true;
#endif

// Forks again and again while another thread calls the same.
void sort_in_forks(int forks, const std::function<void()>& sort) {
  std::atomic<bool> done{false};
  std::thread sorts([&] {
    while (!done) sort();
  });
  for (int fork = 0; fork < forks && !testing::Test::HasFailure(); ++fork) {
    EXPECT_EQ(status_of_fork(sort), 0) << "of the child " << fork;
  }
  done = true;
  sorts.join();
}

TEST(Guest, SortsInAProcessThatWasForkedDuringASort) {
  if (!kMayForkDuringSorts) GTEST_SKIP() << "the sanitizer keeps locks over fork()";
  const TempFolder folder;
  write_file(folder / "in.u32", keys_of(1000));
  sort_in_forks(200, [&] {
    sort_in_memory();
    EXPECT_EQ(sort_in_c(folder / "in.u32", folder / std::to_string(::getpid())), GSORT_DONE);
  });
}

// Starts a process that has not sorted yet each time: the first sort makes objects that later sorts
// find.
int fork_during_first_sorts(const std::function<void()>& sort) {
  for (int delay = 0; delay < 50; ++delay) {
    const int status = status_of_fork([&] {
      std::thread first(sort);
      std::this_thread::sleep_for(std::chrono::microseconds(100 * delay));
      EXPECT_EQ(status_of_fork(sort), 0) << "after " << delay;
      first.join();
    });
    if (status != 0) return 1;
  }
  return 0;
}

// Uses so many keys that the first sort measures the ways to sort them.
int sort_keys_in_forks() {
  std::vector<std::uint32_t> keys(3 << 20);
  std::iota(keys.rbegin(), keys.rend(), 0U);
  std::vector<std::uint32_t> others = keys;
  std::atomic<int> calls{0};
  return fork_during_first_sorts([&] {
    std::vector<std::uint32_t>& own = calls++ == 0 ? keys : others;
    sort_keys<std::uint32_t>(own, Order::kAscending, 2);
    EXPECT_TRUE(std::ranges::is_sorted(own));
  });
}

TEST(GuestDeathTest, SortsInAProcessThatWasForkedDuringTheFirstSort) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads in a process that is forked";
#endif
  if (!kMayForkDuringSorts) GTEST_SKIP() << "the sanitizer keeps locks over fork()";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(sort_keys_in_forks()), testing::ExitedWithCode(0), "^$");
}

int write_text_in_forks() {
  const TempFolder folder;
  const std::string input = folder / "in.f16";
  write_file(input, test::Bytes(2000));
  const char* const inputs[] = {input.c_str()};
  const char* const options[] = {"--format=bin:text", "-S", kMemory, nullptr};
  return fork_during_first_sorts([&] {
    const std::string output = folder / std::to_string(::getpid());
    EXPECT_EQ(gsort_sort(inputs, 1, output.c_str(), options, nullptr), GSORT_DONE)
        << gsort_error_message();
  });
}

TEST(GuestDeathTest, WritesTextInAProcessThatWasForkedDuringTheFirstSort) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads in a process that is forked";
#endif
  if (!kMayForkDuringSorts) GTEST_SKIP() << "the sanitizer keeps locks over fork()";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(write_text_in_forks()), testing::ExitedWithCode(0), "^$");
}

bool sorts_at_exit = false;

void sort_again() {
  if (!sorts_at_exit) return;
  sort_everything();
  ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

// The handler is there before anything of gsort is used, and so comes after its destructors.
TEST(GuestDeathTest, SortsAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atexit(sort_again);
        sorts_at_exit = true;
        sort_everything();
        std::exit(testing::Test::HasFailure() ? 2 : 3);
      },
      testing::ExitedWithCode(0), "^$");
}

// A destructor that a thread runs behind those of gsort's own objects of this thread.
TEST(Guest, SortsWhileAThreadEnds) {
  struct AtEnd {
    ~AtEnd() { sort_everything(); }
  };
  std::thread([] {
    static thread_local AtEnd at_end;
    static_cast<void>(at_end);
    sort_everything();
  }).join();
}

}  // namespace
}  // namespace gsort
