#include "report/progress.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace gsort {
namespace {

using namespace std::chrono_literals;

// Collects what is written; asks for a status line when told to.
class Listener {
 public:
  Progress::Request request(Progress::Form form) {
    return {form, [this](const std::string& text) { add(text); },
            [this] { return asked_.exchange(false); }, [] { return 20U; }};
  }
  void ask() { asked_ = true; }
  [[nodiscard]] std::string text() {
    const std::scoped_lock lock(mutex_);
    return text_;
  }
  // Whether `part` was written within ten seconds.
  bool hears(const std::string& part) {
    for (int i = 0; i < 1'000; ++i) {
      if (text().find(part) != std::string::npos) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

 private:
  void add(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    text_ += text;
  }
  std::atomic<bool> asked_{false};
  std::mutex mutex_;
  std::string text_;
};

TEST(Progress, SaysNothingOfShortSorts) {
  for (const auto form : {Progress::Form::kSilent, Progress::Form::kRewritten,
                          Progress::Form::kLines, Progress::Form::kJson}) {
    Listener listener;
    const Meter meter;
    { const Progress progress(meter, listener.request(form)); }
    EXPECT_EQ(listener.text(), "");
  }
}

TEST(Progress, EndsAtOnce) {
  const Meter meter;
  Listener listener;
  const std::uint64_t begin = meter.now_ns();
  for (int i = 0; i < 5; ++i) {
    const Progress progress(meter, listener.request(Progress::Form::kLines));
  }
  EXPECT_LT(meter.now_ns() - begin, 800'000'000U) << "it sleeps 170 ms at a time";
}

TEST(Progress, AnswersWhenAskedEvenIfSilent) {
  Meter meter;
  meter.begin_phase(Phase::kMerge, 1'000);
  Listener listener;
  const Progress progress(meter, listener.request(Progress::Form::kSilent));
  listener.ask();
  EXPECT_TRUE(listener.hears("gsort: merging: 0 B of 0.98 KiB (0%)\n"));
}

TEST(Progress, GoesOnWhenMemoryHasRunOutForAWhile) {
  const Meter meter;
  Listener listener;
  std::atomic<int> lacks{0};
  Progress::Source source{[&] {
                            if (++lacks <= 2) throw std::bad_alloc();
                            return meter.current_phase();
                          },
                          [] { return 0.0; }, [] { return std::nullopt; }};
  const Progress progress(std::move(source), listener.request(Progress::Form::kSilent));
  listener.ask();
  EXPECT_TRUE(listener.hears("gsort: "));
  EXPECT_GT(lacks, 2);
}

TEST(Progress, RewritesALineThatFitsTheTerminalAndWipesIt) {
  Meter meter;
  meter.begin_phase(Phase::kRead, 1'000);
  Listener listener;
  {
    const Progress progress(meter, listener.request(Progress::Form::kRewritten));
    EXPECT_TRUE(listener.hears("\r\x1b[Kreading: 0 B of 0.9"));
  }
  EXPECT_EQ(listener.text().find('\n'), std::string::npos);
  EXPECT_EQ(listener.text().find("(0%)"), std::string::npos) << "it is cut at the last column";
  EXPECT_TRUE(listener.text().ends_with("\r\x1b[K"));
}

TEST(Progress, EndsItsLinesWithOneThatSaysDone) {
  Meter meter;
  meter.begin_phase(Phase::kRead, 0);
  Listener listener;
  {
    Progress progress(meter, listener.request(Progress::Form::kLines));
    EXPECT_TRUE(listener.hears("gsort: reading: "));
    progress.done(std::uint64_t{1} << 30);
  }
  EXPECT_NE(listener.text().find("gsort: done: 1 GiB in "), std::string::npos);
  EXPECT_TRUE(listener.text().ends_with(" s\n"));
}

TEST(Progress, SaysNothingOfTheEndOfAShortSort) {
  Meter meter;
  Listener listener;
  for (const auto form :
       {Progress::Form::kSilent, Progress::Form::kRewritten, Progress::Form::kLines}) {
    Progress(meter, listener.request(form)).done(1'000);
  }
  EXPECT_EQ(listener.text(), "");
}

TEST(Progress, WritesALineASecondElsewhere) {
  Meter meter;
  meter.begin_phase(Phase::kRead, 0);
  Listener listener;
  const Progress progress(meter, listener.request(Progress::Form::kJson));
  EXPECT_TRUE(listener.hears("\"phase\":\"read\""));
  EXPECT_TRUE(listener.text().ends_with("}\n"));
}

}  // namespace
}  // namespace gsort
