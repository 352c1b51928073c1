#include "report/trace.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/measured.hpp"

namespace gsort {
namespace {

using Json = nlohmann::json;

Json trace_of(const std::vector<PhaseRecord>& phases, const std::vector<TrackRecord>& tracks,
              std::uint64_t lost = 0) {
  std::string text;
  write_trace({phases, tracks, lost, "gsort \"x\""},
              [&](std::string_view piece) { text += piece; });
  return Json::parse(text);
}

TEST(Trace, HoldsEverySpanWithItsTrackTimeAndBytes) {
  const std::vector<TrackRecord> tracks = {
      {{1'500, 4'007, 77, Stage::kRead, false}},
      {{2'000, 3'000, 0, Stage::kSpill, true}, {3'000, 9'000, 5, Stage::kSpill, false}}};
  const Json events = trace_of({}, tracks).at("traceEvents");
  std::vector<Json> spans;
  for (const Json& event : events) {
    if (event.at("ph") == "X") spans.push_back(event);
  }
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].at("name"), "read");
  EXPECT_EQ(spans[0].at("tid"), 1);
  EXPECT_DOUBLE_EQ(spans[0].at("ts").get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(spans[0].at("dur").get<double>(), 2.507);
  EXPECT_EQ(spans[0].at("args").at("bytes"), 77);
  EXPECT_EQ(spans[1].at("name"), "spill waits");
  EXPECT_EQ(spans[1].at("cat"), "wait");
  EXPECT_EQ(spans[1].at("tid"), 2);
  EXPECT_EQ(spans[2].at("cat"), "stage");
}

TEST(Trace, NamesTheDeviceOfASpan) {
  const Json events =
      trace_of({}, {{{1, 2, 0, Stage::kCopyIn, false, 5}, {2, 3, 0, Stage::kCopyIn, false}}})
          .at("traceEvents");
  EXPECT_EQ(events.at(events.size() - 2).at("args").at("device"), 5);
  EXPECT_FALSE(events.at(events.size() - 1).at("args").contains("device"));
}

TEST(Trace, PutsOuterSpansBeforeThoseInsideThem) {
  const Json events =
      trace_of({}, {{{20, 30, 0, Stage::kWrite, false}, {10, 40, 0, Stage::kMerge, false}}})
          .at("traceEvents");
  EXPECT_EQ(events.at(events.size() - 2).at("name"), "merge");
  EXPECT_EQ(events.at(events.size() - 1).at("name"), "write");
}

TEST(Trace, ShowsPhasesOnATrackOfTheirOwn) {
  const Json events = trace_of({test::phase_of(Phase::kMerge, 1, 3)}, {}).at("traceEvents");
  const Json& phase = events.back();
  EXPECT_EQ(phase.at("name"), "merge");
  EXPECT_EQ(phase.at("tid"), 0);
  EXPECT_DOUBLE_EQ(phase.at("dur").get<double>(), 2e6);
}

TEST(Trace, SaysHowManySpansItLacks) {
  EXPECT_EQ(trace_of({}, {}, 17).at("otherData").at("lost_spans"), 17);
}

TEST(Trace, HoldsSeveralProcesses) {
  std::string text;
  const WriteText write = [&](std::string_view piece) { text += piece; };
  begin_trace(3, write);
  for (const unsigned number : {1U, 2U, 3U}) {
    const std::vector<TrackRecord> tracks(1, {SpanRecord{number, 10, 0, Stage::kRead, false}});
    write_trace_events({{}, tracks, 0, "process " + std::to_string(number), number}, write);
  }
  end_trace(write);
  const Json events = Json::parse(text).at("traceEvents");
  std::vector<unsigned> processes;
  for (const Json& event : events) {
    if (event.at("ph") == "X") processes.push_back(event.at("pid"));
  }
  EXPECT_EQ(processes, (std::vector<unsigned>{1, 2, 3}));
}

TEST(Trace, ComesInPieces) {
  TrackRecord track;
  for (std::uint64_t i = 0; i < 5'000; ++i) track.push_back({i, i + 1, i, Stage::kRead, false});
  std::size_t largest = 0;
  std::size_t pieces = 0;
  const std::vector<TrackRecord> tracks = {track};
  write_trace({{}, tracks, 0, "gsort"}, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    ++pieces;
  });
  EXPECT_GT(pieces, 2U);
  EXPECT_LT(largest, std::size_t{70'000});
}

TEST(TrackName, NamesTheStagesThatTakeMostTime) {
  const TrackRecord track = {
      {0, 10, 0, Stage::kSync, false},        {10, 11, 0, Stage::kWrite, false},
      {11, 12, 0, Stage::kWrite, false},      {12, 13, 0, Stage::kWrite, false},
      {13, 63, 0, Stage::kProve, false},      {63, 103, 0, Stage::kRead, false},
      {103, 163, 0, Stage::kPartition, false}};
  EXPECT_EQ(track_name(track), "read, partition, prove");
  EXPECT_EQ(track_name({}), "waiting");
}

TEST(TrackName, CountsNoTimeTwiceAndNoWait) {
  const TrackRecord track = {{10, 40, 0, Stage::kRead, false},  {40, 60, 0, Stage::kRead, true},
                             {60, 90, 0, Stage::kProve, false}, {5, 95, 0, Stage::kSort, false},
                             {96, 98, 0, Stage::kWrite, false}, {0, 100, 0, Stage::kMerge, false},
                             {100, 500, 0, Stage::kSync, true}};
  EXPECT_EQ(track_name(track), "read, sort, prove");
}

}  // namespace
}  // namespace gsort
