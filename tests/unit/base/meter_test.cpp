#include "base/meter.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/rate_window.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

void pass(std::uint64_t ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST(Meter, AddsUpSpansOfAStage) {
  Meter meter;
  for (const std::uint64_t bytes : {100U, 0U, 23U}) {
    Span span(&meter, Stage::kRead);
    span.add_bytes(bytes);
    span.add_bytes(1);
  }
  const auto totals = meter.totals();
  EXPECT_EQ(totals[Stage::kRead].bytes, 126U);
  EXPECT_EQ(totals[Stage::kRead].spans, 3U);
  EXPECT_EQ(totals[Stage::kWrite], StageTotals{});
}

TEST(Meter, TellsWhatWasMovedFromWhatItStandsFor) {
  Meter meter;
  {
    Span span(&meter, Stage::kCopyOut);
    span.add_bytes(1'000, 300);
    span.add_bytes(10);
  }
  EXPECT_EQ(meter.totals()[Stage::kCopyOut].bytes, 1'010U);
  EXPECT_EQ(meter.totals()[Stage::kCopyOut].moved_bytes, 310U);
}

TEST(Meter, CountsWhatIsDoneForADeviceForIt) {
  Meter meter(Meter::Keep::kSpans);
  const auto work = [&](std::optional<int> device, std::uint64_t bytes) {
    const DeviceScope scope(device);
    Span span(&meter, Stage::kMerge);
    span.add_bytes(bytes);
  };
  meter.begin_phase(Phase::kRead, 0);
  work(2, 1'000);
  meter.begin_phase(Phase::kMerge, 0);
  std::thread other([&] { work(1, 40); });
  other.join();
  work(std::nullopt, 5);
  {
    const DeviceScope scope(0);
    const Span outer(&meter, Stage::kLoad);
    work(1, 2);
    EXPECT_EQ(DeviceScope::device(), 0);
  }
  meter.end_phase();
  EXPECT_EQ(DeviceScope::device(), std::nullopt);
  const std::vector<PhaseRecord> phases = meter.phases();
  ASSERT_EQ(phases[0].devices.size(), 1U);
  EXPECT_EQ(phases[0].devices[0].device, 2);
  EXPECT_EQ(phases[0].devices[0].stages[Stage::kMerge].bytes, 1'000U);
  const std::vector<DeviceTotals>& devices = phases[1].devices;
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].device, 0);
  EXPECT_EQ(devices[0].stages[Stage::kLoad].spans, 1U);
  EXPECT_EQ(devices[0].stages[Stage::kMerge], StageTotals{});
  EXPECT_EQ(devices[1].stages[Stage::kMerge].bytes, 42U);
  EXPECT_EQ(phases[1].stages[Stage::kMerge].bytes, 47U);
  std::vector<int> spans;
  for (const TrackRecord& track : meter.tracks()) {
    for (const SpanRecord& span : track) spans.push_back(span.device);
  }
  std::ranges::sort(spans);
  EXPECT_EQ(spans, (std::vector{-1, 0, 1, 1, 2}));
}

TEST(Meter, TakesTheTimeOfAStageInsideAnotherFromTheOuterOne) {
  Meter meter;
  {
    const Span outer(&meter, Stage::kMerge);
    pass(5);
    const Span inner(&meter, Stage::kWrite);
    pass(40);
  }
  const auto totals = meter.totals();
  EXPECT_GE(totals[Stage::kMerge].busy_ns, 5 * kMs);
  EXPECT_LT(totals[Stage::kMerge].busy_ns, totals[Stage::kWrite].busy_ns);
  EXPECT_GE(totals[Stage::kWrite].busy_ns, 40 * kMs);
}

TEST(Meter, GoesOnWithTheOuterStageWhenTheInnerOneEnds) {
  Meter meter;
  {
    const Span outer(&meter, Stage::kMerge);
    { const Span inner(&meter, Stage::kWrite); }
    pass(20);
  }
  EXPECT_GE(meter.totals()[Stage::kMerge].busy_ns, 20 * kMs);
}

TEST(Meter, TellsWaitingFromWork) {
  Meter meter;
  {
    const Wait wait(&meter, Stage::kSpill);
    pass(5);
  }
  const auto totals = meter.totals();
  EXPECT_GE(totals[Stage::kSpill].waiting_ns, 5 * kMs);
  EXPECT_EQ(totals[Stage::kSpill].busy_ns, 0U);
  EXPECT_EQ(totals[Stage::kSpill].spans, 0U) << "a wait is no work";
}

TEST(Meter, AddsUpThreadsThatCameAndWent) {
  Meter meter(Meter::Keep::kSpans);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        Span span(&meter, Stage::kLoad);
        span.add_bytes(7);
      });
    }
  }
  EXPECT_EQ(meter.totals()[Stage::kLoad].bytes, 280U);
  EXPECT_LE(meter.tracks().size(), 4U) << "tracks of ended threads were not used again";
}

TEST(Meter, MayBeWatchedWhileThreadsWork) {
  Meter meter;
  meter.begin_phase(Phase::kRead, 0);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      while (!stop) {
        Span span(&meter, Stage::kRead);
        span.add_bytes(1);
      }
    });
  }
  std::uint64_t before = 0;
  while (before < 10'000) {
    const std::uint64_t now = meter.current_phase().stages[Stage::kRead].bytes;
    EXPECT_GE(now, before);
    before = now;
  }
  stop = true;
  threads.clear();
  const StageTotals end = meter.totals()[Stage::kRead];
  EXPECT_EQ(end.bytes, end.spans);
}

TEST(Meter, KeepsSpansInTheOrderInWhichTheyEndOnlyIfAsked) {
  for (const bool keep : {false, true}) {
    Meter meter(keep ? Meter::Keep::kSpans : Meter::Keep::kTotals);
    {
      const Span outer(&meter, Stage::kMerge);
      Span inner(&meter, Stage::kWrite);
      inner.add_bytes(9);
      pass(1);
    }
    const auto tracks = meter.tracks();
    ASSERT_EQ(tracks.size(), 1U);
    ASSERT_EQ(tracks[0].size(), keep ? 2U : 0U);
    if (!keep) continue;
    EXPECT_EQ(tracks[0][0].stage, Stage::kWrite);
    EXPECT_EQ(tracks[0][0].bytes, 9U);
    EXPECT_EQ(tracks[0][1].stage, Stage::kMerge);
    EXPECT_LE(tracks[0][1].begin_ns, tracks[0][0].begin_ns);
    EXPECT_GE(tracks[0][1].end_ns, tracks[0][0].end_ns);
    EXPECT_GE(tracks[0][0].end_ns, tracks[0][0].begin_ns + kMs);
  }
}

TEST(Meter, CountsSpansThatAreTooMany) {
  Meter meter(Meter::Keep::kSpans);
  for (std::size_t i = 0; i < Meter::kMostSpans + 5; ++i) const Span span(&meter, Stage::kRead);
  EXPECT_EQ(meter.lost_spans(), 5U);
  EXPECT_EQ(meter.tracks().at(0).size(), Meter::kMostSpans);
  EXPECT_EQ(meter.totals()[Stage::kRead].spans, Meter::kMostSpans + 5);
}

TEST(Meter, SetsPhasesApart) {
  Meter meter;
  const auto read = [&](std::uint64_t bytes) {
    Span span(&meter, Stage::kRead);
    span.add_bytes(bytes);
  };
  read(1);
  meter.begin_phase(Phase::kRead, 1'000);
  read(10);
  meter.begin_phase(Phase::kWrite, 2'000);
  read(200);
  EXPECT_EQ(meter.current_phase().phase, Phase::kWrite);
  EXPECT_EQ(meter.current_phase().stages[Stage::kRead].bytes, 200U);
  EXPECT_EQ(meter.phases().size(), 1U);
  meter.end_phase();
  meter.end_phase();
  read(4'000);
  const auto phases = meter.phases();
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].phase, Phase::kRead);
  EXPECT_EQ(phases[0].total_bytes, 1'000U);
  EXPECT_EQ(phases[0].stages[Stage::kRead].bytes, 10U);
  EXPECT_EQ(phases[1].stages[Stage::kRead].bytes, 200U);
  EXPECT_LE(phases[0].end_ns, phases[1].begin_ns);
  EXPECT_EQ(meter.totals()[Stage::kRead].bytes, 4'211U);
  EXPECT_EQ(meter.current_phase().stages[Stage::kRead].bytes, 200U) << "the last one stays";
}

TEST(Meter, AddsUpTheProcessorTimeOfAPhase) {
  Meter meter;
  meter.begin_phase(Phase::kRead, 0);
  const std::uint64_t begin = meter.now_ns();
  while (meter.now_ns() < begin + 50 * kMs) {
  }
  meter.begin_phase(Phase::kSync, 0);
  pass(50);
  meter.end_phase();
  const auto phases = meter.phases();
  EXPECT_GT(phases[0].cpu_seconds, 0.0);
  EXPECT_LT(phases[1].cpu_seconds, phases[0].cpu_seconds) << "sleeping takes no processor";
}

TEST(Meter, GivesABestRateOnlyWhereManySpansEnded) {
  Meter meter;
  meter.begin_phase(Phase::kRead, 0);
  for (int i = 0; i < 150; ++i) {
    Span span(&meter, Stage::kRead);
    span.add_bytes(1'000'000);
    pass(1);
  }
  {
    Span span(&meter, Stage::kWrite);
    span.add_bytes(1'000'000);
  }
  meter.end_phase();
  const PhaseRecord phase = meter.phases().at(0);
  EXPECT_GT(phase.best_rates[Stage::kRead], 0.0);
  EXPECT_LT(phase.best_rates[Stage::kRead], 1.1e9) << "a span takes a millisecond at least";
  EXPECT_EQ(phase.best_rates[Stage::kWrite], 0.0);
}

TEST(Meter, MayEndBeforeTheThreadsThatUsedIt) {
  auto first = std::make_unique<Meter>();
  Meter second;
  std::atomic<int> step{0};
  std::jthread thread([&] {
    { const Span span(first.get(), Stage::kRead); }
    step = 1;
    while (step != 2) std::this_thread::yield();
    const Span span(&second, Stage::kRead);
  });
  while (step != 1) std::this_thread::yield();
  first.reset();
  step = 2;
  thread.join();
  EXPECT_EQ(second.totals()[Stage::kRead].spans, 1U);
}

TEST(Meter, EndsTheWorkWithTheNextSpanWhenToldToStop) {
  Meter meter;
  const Span before(&meter, Stage::kSort);
  meter.request_stop();
  const Error error = test::error_of([&] { const Span after(&meter, Stage::kWrite); });
  EXPECT_EQ(error.kind(), ErrorKind::kStopped);
  EXPECT_EQ(meter.totals()[Stage::kWrite], StageTotals{});
}

TEST(Span, DoesNothingWithoutAMeter) {
  Span span(nullptr, Stage::kRead);
  span.add_bytes(1);
}

TEST(RateWindow, EndsAfterEnoughTimeAndEnoughSpans) {
  RateWindow window;
  window.begin(0, 0, 0);
  window.look(RateWindow::kLeastNs - 1, 1'000, 1'000);
  EXPECT_EQ(window.best(), 0.0) << "too short";
  window.look(10 * RateWindow::kLeastNs, 1'000, RateWindow::kLeastSpans - 1);
  EXPECT_EQ(window.best(), 0.0) << "too few spans";
  window.look(10 * RateWindow::kLeastNs, 1'000, RateWindow::kLeastSpans);
  EXPECT_DOUBLE_EQ(window.best(), 1'000.0);
}

TEST(RateWindow, KeepsTheBest) {
  RateWindow window;
  window.begin(0, 0, 0);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  window.look(kSecond, 5'000, 100);
  window.look(2 * kSecond, 14'000, 200);
  window.look(3 * kSecond, 15'000, 300);
  EXPECT_DOUBLE_EQ(window.best(), 9'000.0);
  window.begin(3 * kSecond, 15'000, 300);
  EXPECT_EQ(window.best(), 0.0);
}

TEST(StageNames, AreAllDifferent) {
  for (std::size_t a = 0; a < kStages; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NE(name_of(static_cast<Stage>(a)), name_of(static_cast<Stage>(b)));
    }
  }
}

}  // namespace
}  // namespace gsort
