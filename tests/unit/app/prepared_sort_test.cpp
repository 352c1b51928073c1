#include "app/prepared_sort.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "io/input/reader.hpp"
#include "support/invented.hpp"
#include "support/some_of.hpp"
#include "unit/app/at_once.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

enum class Order : std::uint8_t { kUp, kDown };

// Sorts of three runs with the same folder of --resume, which may hold a run of the one upwards.
class KeptSorts {
 public:
  explicit KeptSorts(bool has_run) : keys_(260'000) {
    std::ranges::generate(keys_, std::mt19937(1));
    io::test::write_file(folder_ / "in", std::as_bytes(std::span(keys_)));
    std::ranges::sort(keys_);
    if (!has_run) return;
    constexpr unsigned kRenamesWithARun = 2;
    EXPECT_TRUE(test::dies(
        {io::sys::Call::kRename, kRenamesWithARun + 1}, [&] { run(Order::kUp); }, [] {}));
    std::filesystem::rename(folder_ / "dir", folder_ / "killed");
  }

  void begin_again() const {
    std::filesystem::remove_all(folder_ / "dir");
    for (const Order order : {Order::kUp, Order::kDown}) {
      std::filesystem::remove(folder_ / output_of(order));
    }
    if (!std::filesystem::exists(folder_ / "killed")) return;
    std::filesystem::copy(folder_ / "killed", folder_ / "dir");
  }

  // Returns whether it was not refused because of the other. Throws: any other Error.
  bool run(Order order) const {
    Options options = test::options_for(KeyType::kU32, "2M");
    options.inputs = {folder_ / "in"};
    options.output = folder_ / output_of(order);
    options.resume = folder_ / "dir";
    options.key.descending = order == Order::kDown;
    options.parallel = 1;
    options.engine = EngineChoice::kCpu;
    try {
      io::Reader reader(options.inputs, {4, {io::DirectIo::kAuto}, {}});
      Meter meter;
      (void)PreparedSort(options, make_job(options), reader).run(&meter);
    } catch (const Error& error) {
      const auto says = [&](const char* words) { return io::test::contains(error.what(), words); };
      if (says("is using it\n  wait until it ends, or") || says("saved sort differs")) return false;
      throw;
    }
    expect_output(order);
    return true;
  }

  void expect_output(Order order) const {
    std::vector<std::uint32_t> wanted = keys_;
    if (order == Order::kDown) std::ranges::reverse(wanted);
    EXPECT_TRUE(std::ranges::equal(io::test::read_file(folder_ / output_of(order)),
                                   std::as_bytes(std::span(wanted))));
  }

  // Except for an empty folder, if it may stay.
  void expect_nothing_left(bool folder_may_stay) const {
    if (folder_may_stay) std::filesystem::remove(folder_ / "dir");
    for (const std::string& name : folder_.entries()) {
      const bool is_ours = name == "in" || name == "killed" || name.starts_with("out");
      EXPECT_TRUE(is_ours) << name;
    }
  }

 private:
  static const char* output_of(Order order) { return order == Order::kUp ? "out-up" : "out-down"; }

  const io::test::TempFolder folder_;
  std::vector<std::uint32_t> keys_;
};

// At every call of a process, others do the same or another sort with its folder of --resume, and
// it dies there or goes on.
class ResumesAtOnce : public testing::TestWithParam<std::tuple<bool, Order, bool>> {
 protected:
  static constexpr std::array kCalls = {io::sys::Call::kOpen, io::sys::Call::kRename,
                                        io::sys::Call::kLink, io::sys::Call::kUnlink,
                                        io::sys::Call::kLock, io::sys::Call::kMkdir};

  static void SetUpTestSuite() { test::use_folders_in_memory(); }
};
INSTANTIATE_TEST_SUITE_P(All, ResumesAtOnce,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Order::kUp, Order::kDown),
                                          testing::Bool()));

TEST_P(ResumesAtOnce, EndWithTheRightOutputsAndWithoutTheFolder) {
  const auto [has_run, others, it_dies] = GetParam();
#ifdef __SANITIZE_THREAD__
  if (has_run || it_dies) {
    GTEST_SKIP() << "ThreadSanitizer allows no threads in a process that is forked";
  }
#endif
  const KeptSorts sorts(has_run);
  test::SomeOf calls(2);
  for (const io::sys::Call call : kCalls) {
    if (!calls.takes()) continue;
    for (std::uint64_t nth = 1; !HasFailure(); ++nth) {
      SCOPED_TRACE(std::string(io::sys::name_of(call)) + " " + std::to_string(nth));
      sorts.begin_again();
      const auto process = [&] { EXPECT_TRUE(sorts.run(Order::kUp)); };
      const auto be_others = [&, order = others] { sorts.run(order); };
      if (!(it_dies ? test::dies : test::goes_on)({call, nth}, process, be_others)) break;
      if (it_dies) process();
      sorts.expect_output(Order::kUp);
      sorts.expect_nothing_left(it_dies);
    }
  }
}

TEST(PreparedSort, PlansAndDoesNotWaitForTurnsAtTheNullDevice) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", io::test::random_bytes(1'000'000));
  Options options = test::options_for(KeyType::kU32, "2M");
  options.inputs = {folder / "in"};
  options.temporary_directories = {folder.path()};
  options.engine = EngineChoice::kCpu;
  for (const std::string output : {"/dev/null", "/dev/zero"}) {
    for (const ExplainMode explain : {ExplainMode::kText, ExplainMode::kNone}) {
      options.output = output;
      options.explain = explain;
      io::Reader reader(options.inputs, {4, {io::DirectIo::kAuto}, {}});
      PreparedSort sort(options, make_job(options), reader);
      EXPECT_EQ(sort.plan().output.needs_order, output != "/dev/null");
      if (explain != ExplainMode::kNone) continue;
      Meter meter;
      const Outcome outcome = sort.run(&meter);
      EXPECT_GT(outcome.runs, 1U);
      EXPECT_EQ(outcome.output_elements, 250'000U);
    }
  }
}

}  // namespace
}  // namespace gsort
