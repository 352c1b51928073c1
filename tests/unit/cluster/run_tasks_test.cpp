#include "cluster/runs/run_tasks.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::cluster {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
using Seen = std::vector<std::vector<SeenFolder>>;

Pairs pairs_of(const std::vector<OutputRange>& ranges) {
  Pairs pairs;
  for (const OutputRange& range : ranges) pairs.emplace_back(range.begin, range.end);
  return pairs;
}

// So many processes that can all read `elements` elements.
std::vector<OutputRange> all_read(std::size_t processes, std::uint64_t elements) {
  return std::vector<OutputRange>(processes, {0, elements});
}

std::vector<std::string> names_of(const RunTask& task) {
  std::vector<std::string> names;
  for (const RunTask::Folder& folder : task.folders) names.push_back(folder.name);
  return names;
}

TEST(RunTasks, ShareAllWhereNothingIsThere) {
  const auto tasks = share_out(all_read(3, 10), false, Seen(3));
  EXPECT_EQ(pairs_of(tasks[0].to_form), (Pairs{{0, 3}}));
  EXPECT_EQ(pairs_of(tasks[1].to_form), (Pairs{{3, 6}}));
  EXPECT_EQ(pairs_of(tasks[2].to_form), (Pairs{{6, 10}}));
  for (const RunTask& task : tasks) EXPECT_TRUE(task.folders.empty());
  EXPECT_TRUE(share_out(all_read(2, 0), false, Seen(2))[1].to_form.empty());
}

TEST(RunTasks, LeaveRunsToThoseWhoSeeThemAndShareTheRest) {
  // The host of the third folder has become the first process, another one is new.
  const SeenFolder a{"a", 1, {{0, 20}, {20, 30}}};
  const SeenFolder c{"c", 3, {{60, 70}, {75, 80}}};
  const auto tasks = share_out(all_read(3, 90), false, {{c}, {}, {a}});
  EXPECT_EQ(names_of(tasks[0]), (std::vector<std::string>{"c"}));
  EXPECT_EQ(tasks[0].folders[0].runs, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(tasks[0].folders[0].store, 3);
  EXPECT_TRUE(tasks[1].folders.empty());
  EXPECT_EQ(names_of(tasks[2]), (std::vector<std::string>{"a"}));
  // 45 elements are missing.
  EXPECT_EQ(pairs_of(tasks[0].to_form), (Pairs{{30, 45}}));
  EXPECT_EQ(pairs_of(tasks[1].to_form), (Pairs{{45, 60}}));
  EXPECT_EQ(pairs_of(tasks[2].to_form), (Pairs{{70, 75}, {80, 90}}));
}

TEST(RunTasks, SpreadFoldersThatAllSee) {
  const std::vector<SeenFolder> folders = {
      {"a", 1, {{0, 10}}}, {"b", 2, {{10, 40}}}, {"c", 3, {{40, 50}}}, {"d", 4, {}}};
  const auto tasks = share_out(all_read(2, 50), false, {folders, folders});
  EXPECT_EQ(names_of(tasks[0]), (std::vector<std::string>{"b"}));
  EXPECT_EQ(names_of(tasks[1]), (std::vector<std::string>{"a", "c", "d"}));
  EXPECT_TRUE(tasks[0].to_form.empty() && tasks[1].to_form.empty());
}

TEST(RunTasks, TellFoldersOfOneNameApart) {
  const auto tasks =
      share_out(all_read(2, 30), false, {{{"a", 1, {{0, 10}}}}, {{"a", 2, {{20, 30}}}}});
  EXPECT_EQ(tasks[0].folders.size(), 1);
  EXPECT_EQ(tasks[1].folders.size(), 1);
  EXPECT_EQ(pairs_of(tasks[0].to_form), (Pairs{{10, 15}}));
}

// Two processes read the same file, or equal ones: runs of it could be of either.
TEST(RunTasks, UseRunsOfEqualInputsOnce) {
  const auto tasks =
      share_out({{0, 10}, {10, 20}}, true, {{{"a", 1, {{0, 4}}}}, {{"a", 1, {{10, 14}}}}});
  EXPECT_EQ(names_of(tasks[0]), (std::vector<std::string>{"a"}));
  EXPECT_EQ(tasks[0].folders[0].runs, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(pairs_of(tasks[0].to_form), (Pairs{{4, 10}}));
  EXPECT_TRUE(tasks[1].folders.empty());
  EXPECT_EQ(pairs_of(tasks[1].to_form), (Pairs{{10, 20}}));
}

TEST(RunTasks, UseNoElementTwice) {
  // The host of b was away while others formed what it had.
  const auto tasks = share_out(all_read(2, 40), false,
                               {{{"a", 1, {{0, 10}, {10, 22}}}}, {{"b", 2, {{5, 20}, {20, 40}}}}});
  EXPECT_EQ(tasks[0].folders[0].runs, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(names_of(tasks[1]), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(tasks[1].folders[0].runs.empty());
  EXPECT_EQ(pairs_of(tasks[0].to_form), (Pairs{{22, 31}}));
  EXPECT_EQ(pairs_of(tasks[1].to_form), (Pairs{{31, 40}}));
}

TEST(RunTasks, LeaveInputsToThoseWhoHaveThem) {
  const auto tasks = share_out({{0, 10}, {10, 10}, {10, 40}}, true,
                               {{{"a", 1, {{2, 8}}}}, {}, {{"b", 2, {{10, 30}}}}});
  EXPECT_EQ(pairs_of(tasks[0].to_form), (Pairs{{0, 2}, {8, 10}}));
  EXPECT_TRUE(tasks[1].to_form.empty());
  EXPECT_EQ(pairs_of(tasks[2].to_form), (Pairs{{30, 40}}));
}

// Whatever is there, each element is in one run that is used, or formed once; and what is formed is
// divided equally.
TEST(RunTasks, CoverEveryElementOnce) {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    const std::uint64_t elements = random() % 60;
    const std::size_t processes = 1 + random() % 4;
    std::vector<SeenFolder> folders;
    for (std::uint64_t store = 0; store < random() % 6; ++store) {
      SeenFolder& folder = folders.emplace_back();
      folder.name = std::string(1, static_cast<char>('a' + store));
      folder.store = store;
      std::uint64_t at = random() % 20;
      while (at < elements && random() % 5 > 0) {
        const std::uint64_t end = std::min(elements, at + 1 + random() % 9);
        folder.runs.push_back({at, end});
        at = end + random() % 2 * (random() % 5);
      }
    }
    Seen seen(processes);
    for (const SeenFolder& folder : folders) {
      for (auto& of_process : seen) {
        if (random() % 2 == 0) of_process.push_back(folder);
      }
    }
    const auto tasks = share_out(all_read(processes, elements), false, seen);
    std::vector<unsigned> covered(elements);
    std::uint64_t formed = 0;
    const auto cover = [&](const OutputRange& range) {
      for (std::uint64_t at = range.begin; at < range.end; ++at) ++covered[at];
    };
    for (std::size_t rank = 0; rank < processes; ++rank) {
      for (const RunTask::Folder& taken : tasks[rank].folders) {
        const auto& mine = seen[rank];
        const auto folder = std::ranges::find(mine, taken.name, &SeenFolder::name);
        ASSERT_NE(folder, mine.end()) << "a process takes what it does not see";
        for (const std::uint64_t run : taken.runs) cover(folder->runs[run]);
      }
      for (const OutputRange& range : tasks[rank].to_form) {
        EXPECT_LT(range.begin, range.end);
        formed += range.elements();
        cover(range);
      }
    }
    EXPECT_EQ(std::ranges::count(covered, 1U), static_cast<std::ptrdiff_t>(elements)) << turn;
    for (const RunTask& task : tasks) {
      std::uint64_t own = 0;
      for (const OutputRange& range : task.to_form) own += range.elements();
      EXPECT_GE(own, formed / processes);
      EXPECT_LE(own, formed / processes + 1);
    }
  }
}

TEST(RunTasks, ArriveAsTheyWereSent) {
  const std::vector<SeenFolder> seen = {{"a", 7, {{1, 2}, {3, 9}}}, {"b", 8, {}}};
  const auto seen_back = value_in<std::vector<SeenFolder>>(message_of(seen));
  ASSERT_EQ(seen_back.size(), 2);
  EXPECT_EQ(seen_back[0].name, "a");
  EXPECT_EQ(seen_back[1].store, 8);
  EXPECT_EQ(pairs_of(seen_back[0].runs), pairs_of(seen[0].runs));
  const std::vector<RunTask> sent = {{{{"a", 7, {0, 5}}}, {{1, 4}}}, {}};
  const auto tasks = value_in<std::vector<RunTask>>(message_of(sent));
  ASSERT_EQ(tasks.size(), 2);
  const RunTask& task = tasks[0];
  EXPECT_EQ(names_of(task), (std::vector<std::string>{"a"}));
  EXPECT_EQ(task.folders[0].runs, (std::vector<std::uint64_t>{0, 5}));
  EXPECT_EQ(pairs_of(task.to_form), (Pairs{{1, 4}}));
  EXPECT_TRUE(tasks[1].folders.empty());
}

}  // namespace
}  // namespace gsort::cluster
