// Lies inside a sort: at a random event of a random seam, elements are dropped, doubled, swapped or
// moved by one place, an offset is shifted, a stale buffer used, a block cut short, left out or
// repeated. Every lie must end in an Error with the old output in place, or have changed nothing:
// what comes out is then compared with the truth, byte by byte.
//
// Lies that no proof can see are not told:
// - about an input's bytes, where their number is right: that is another input;
// - about what a disk has taken, if that is not read again: so, of the output's writes;
// - about the order of equal records: those of the cases are equal as a whole;
// - between the writer and an output that is written in order: what the writer itself left out, the
//   next pieces would wait for.
//
// GSORT_LIES says how many are told in each case (the long form tells many); GSORT_LIE=N tells the
// one of that number, as a case that fails says. The events of threads that run at the same time
// may change places; where they do, the same number may be another lie.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "lies/cases.hpp"
#include "lies/liar.hpp"
#include "support/engine_wrap.hpp"

namespace gsort::test {
namespace {

constexpr std::uint64_t kUsualLies = 60;
constexpr std::chrono::seconds kLongestSort{60};

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A sort that does not end is not to be waited for: it says which one, and ends the process.
class Watchdog {
 public:
  explicit Watchdog(std::string words) : words_(std::move(words)), thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void note(const std::string& words) {
    const std::scoped_lock lock(mutex_);
    words_ = words;
    ++sorts_;
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    std::uint64_t seen = sorts_;
    while (!changed_.wait_for(lock, kLongestSort, [this] { return ended_; })) {
      if (sorts_ == seen) {
        std::fprintf(stderr, "does not end: %s\n", words_.c_str());
        std::_Exit(3);
      }
      seen = sorts_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string words_;
  std::uint64_t sorts_ = 0;
  bool ended_ = false;
  std::jthread thread_;
};

// Where the first byte differs, for messages.
std::string difference(const Bytes& truth, const std::optional<Bytes>& output) {
  if (!output) return "there is no output";
  const auto [at, other] = std::ranges::mismatch(truth, *output);
  return std::to_string(truth.size()) + " bytes are right, " + std::to_string(output->size()) +
         " came, which differ from byte " + std::to_string(at - truth.begin()) + " on";
}

std::uint32_t key_at(ConstByteSpan keys, std::size_t at) {
  std::uint32_t key = 0;
  std::memcpy(&key, &keys[at], sizeof(key));
  return key;
}

struct Tally {
  std::uint64_t caught = 0;
  std::uint64_t harmless = 0;
  std::uint64_t untold = 0;  // fewer events came than when they were counted
};

class Lies : public testing::TestWithParam<LieCase> {
 protected:
  static void SetUpTestSuite() {
    // In memory, where there is room: a disk makes the lies slow, and no better.
    if (std::filesystem::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
  }

  [[nodiscard]] static std::size_t element_bytes() { return element_bytes_of(GetParam().request); }

  // The output without lies, and the number of events of each seam.
  void learn_truth() {
    the_liar().watch(element_bytes());
    const SortResult result = run_case(GetParam());
    the_liar().disarm();
    ASSERT_FALSE(result.error) << result.error->what();
    ASSERT_TRUE(result.output.has_value());
    truth_ = *result.output;
    for (const Seam seam : GetParam().seams) {
      events_.push_back(the_liar().count(seam));
      EXPECT_GT(events_.back(), 0U) << "nothing passes at the seam '" << name_of(seam) << "'";
    }
  }

  [[nodiscard]] Lie lie_of(std::uint64_t number) const {
    std::mt19937_64 random(number * 0x9e3779b97f4a7c15U + 1);
    const std::size_t seam = random() % events_.size();
    const std::uint64_t event = random() % std::max<std::uint64_t>(events_[seam], 1);
    return {*std::next(GetParam().seams.begin(), static_cast<std::ptrdiff_t>(seam)), event,
            random()};
  }

  [[nodiscard]] static std::string words_for(std::uint64_t number, const Lie& lie) {
    return "lie " + std::to_string(number) + " of '" + GetParam().name + "', at event " +
           std::to_string(lie.event) + " of the seam '" + std::string(name_of(lie.seam)) +
           "'; to repeat: GSORT_LIE=" + std::to_string(number) +
           " lying_sorts --gtest_filter='*Lies*/" + GetParam().name + "'";
  }

  void tell(std::uint64_t number, Watchdog& watchdog) {
    const Lie lie = lie_of(number);
    const std::string words = words_for(number, lie);
    watchdog.note(words);
    the_liar().arm(lie, element_bytes());
    const SortResult result = run_case(GetParam());
    the_liar().disarm();
    EXPECT_TRUE(result.left_in_temporary.empty()) << words;
    EXPECT_TRUE(result.left_in_folder.empty()) << words;
    const bool is_true = result.output == truth_;
    const std::string wrong = is_true ? "" : difference(truth_, result.output) + ": " + words;
    if (result.error) {
      ++tally_.caught;
      const bool is_old = GetParam().request.to_pipe || result.output == old_output();
      EXPECT_TRUE(is_old) << "the old output is gone: " << words;
    } else if (!the_liar().has_lied()) {
      ++tally_.untold;
      EXPECT_TRUE(is_true) << "wrong without a lie: " << wrong;
    } else {
      ++tally_.harmless;
      EXPECT_TRUE(is_true) << "a lie passed: " << wrong;
    }
  }

  Bytes truth_;
  std::vector<std::uint64_t> events_;  // of the seams, in their order
  Tally tally_;
};

TEST_P(Lies, AreErrorsOrChangeNothing) {
  learn_truth();
  if (HasFailure()) return;
  Watchdog watchdog("the first lie of " + GetParam().name);
  const std::uint64_t none = ~std::uint64_t{0};
  if (const std::uint64_t one = number_in("GSORT_LIE", none); one != none) {
    return tell(one, watchdog);
  }
  const std::uint64_t lies = number_in("GSORT_LIES", kUsualLies);
  for (std::uint64_t number = 0; number < lies && !HasFailure(); ++number) tell(number, watchdog);
  std::printf("%s: %lu lies caught, %lu changed nothing, %lu were not told\n",
              GetParam().name.c_str(), tally_.caught, tally_.harmless, tally_.untold);
  EXPECT_GE(tally_.caught, (lies - tally_.untold) / 4) << "these are no lies";
}

// For inputs of unknown size, when the reader ends early.
TEST(Inputs, AreSaidToHoldMoreThanWasSorted) {
  const auto lie_case = std::ranges::find(lie_cases(), "counted_from_pipe", &LieCase::name);
  int said = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    the_liar().arm({Seam::kReader, 0, seed}, element_bytes_of(lie_case->request));
    const SortResult result = run_case(*lie_case);
    the_liar().disarm();
    if (!result.error) continue;
    const std::string message = result.error->what();
    if (message.find("the inputs hold more than was sorted") != std::string::npos) ++said;
  }
  EXPECT_GT(said, 0);
}

// Two keys change their arrays: all arrays together hold what they should, and each is in order.
TEST(Arrays, ThatAreSortedOneByOneKeepTheirKeys) {
  const auto lie_case = std::ranges::find(lie_cases(), "arrays_as_sorts", &LieCase::name);
  SortRequest request = lie_case->request;
  const std::array keys = {key_at(request.input, 0),
                           key_at(request.input, request.input.size() - sizeof(std::uint32_t))};
  ASSERT_NE(keys[0], keys[1]);
  int exchanged = 0;
  EngineHooks hooks;
  hooks.on_block = [&](ByteSpan block, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
      const std::uint32_t key = key_at(block, at);
      if (key != keys[0] && key != keys[1]) continue;
      const std::uint32_t other = key == keys[0] ? keys[1] : keys[0];
      std::memcpy(&block[at], &other, sizeof(other));
      ++exchanged;
    }
    return bytes;
  };
  request.make_engine = [&](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
    return wrap_engine(lie_case->request.make_engine(plan, shape, memory), hooks);
  };
  const SortResult result = sort_in_folder(request);
  EXPECT_GT(exchanged, 0);
  ASSERT_TRUE(result.error) << "nobody noticed";
  EXPECT_EQ(result.error->kind(), ErrorKind::kCorrupt) << result.error->what();
  EXPECT_EQ(result.output, old_output());
}

INSTANTIATE_TEST_SUITE_P(Sorts, Lies, testing::ValuesIn(lie_cases()),
                         [](const auto& lie_case) { return lie_case.param.name; });

}  // namespace
}  // namespace gsort::test
