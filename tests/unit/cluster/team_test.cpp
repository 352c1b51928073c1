#include "cluster/team.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include <gtest/gtest.h>

#include "unit/cluster/local_team.hpp"

namespace gsort::cluster {
namespace {

using test::LocalNetwork;

TeamOptions options_of(const Peers& peers, std::chrono::milliseconds timeout = {}) {
  TeamOptions options;
  if (timeout.count() > 0) options.peer_timeout = timeout;
  options.host = "host" + std::to_string(peers.rank());
  return options;
}

// The verdict of each process on `job`.
std::vector<std::optional<Verdict>> verdicts_on_hosts(LocalNetwork& network,
                                                      const test::TeamJob& job,
                                                      std::chrono::milliseconds timeout = {}) {
  return test::verdicts_of(network, job,
                           [&](const Peers& peers) { return options_of(peers, timeout); });
}

void expect_no_verdict(const std::vector<std::optional<Verdict>>& verdicts) {
  for (const auto& verdict : verdicts) EXPECT_FALSE(verdict) << verdict->text;
}

TEST(Team, AddsUpOverAllProcesses) {
  for (unsigned count = 1; count <= 9; ++count) {
    LocalNetwork network(count, count);
    expect_no_verdict(verdicts_on_hosts(network, [&](Team& team) {
      for (std::uint64_t round = 0; round < 5; ++round) {
        std::vector<std::uint64_t> values{team.rank() + round, 1, team.rank() == count - 1};
        team.sum(values);
        EXPECT_EQ(values[0], count * (count - 1) / 2 + round * count);
        EXPECT_EQ(values[1], count);
        EXPECT_EQ(values[2], 1);
      }
    }));
  }
}

TEST(Team, AddsUpMoreThanAMessageHolds) {
  LocalNetwork network(3);
  expect_no_verdict(verdicts_on_hosts(network, [&](Team& team) {
    std::vector<std::uint64_t> values(200'000);
    std::iota(values.begin(), values.end(), team.rank());
    team.sum(values);
    EXPECT_EQ(values.front(), 3);
    EXPECT_EQ(values.back(), 3 * 199'999 + 3);
  }));
}

TEST(Team, AddsUpOverLowerRanks) {
  for (unsigned count = 1; count <= 9; ++count) {
    LocalNetwork network(count, count);
    expect_no_verdict(verdicts_on_hosts(network, [&](Team& team) {
      std::vector<std::uint64_t> values{team.rank() + 1, 7};
      team.sum_before(values);
      EXPECT_EQ(values[0], team.rank() * (team.rank() + 1) / 2);
      EXPECT_EQ(values[1], 7 * team.rank());
    }));
  }
}

TEST(Team, GathersInTheOrderOfRanksAndKnowsAllHosts) {
  for (unsigned count = 1; count <= 6; ++count) {
    LocalNetwork network(count, count);
    expect_no_verdict(verdicts_on_hosts(network, [&](Team& team) {
      const Message own(team.rank() * 100'000, std::byte(team.rank()));
      const std::vector<Message> all = team.gather(own);
      ASSERT_EQ(all.size(), team.rank() == 0 ? count : 0);
      for (unsigned rank = 0; rank < all.size(); ++rank) {
        EXPECT_EQ(all[rank], Message(rank * 100'000, std::byte(rank)));
      }
      EXPECT_EQ(team.host_of(count - 1), "host" + std::to_string(count - 1));
      EXPECT_EQ(team.broadcast(Message(team.rank() == 0 ? 300'000 : 1)).size(), 300'000);
    }));
  }
}

TEST(Team, CountsTheProcessesOfAHost) {
  LocalNetwork network(5);
  test::run_job(
      network, [](Team& team) { EXPECT_EQ(team.processes_here(), team.rank() % 2 == 0 ? 3 : 2); },
      [](const Peers& peers) {
        TeamOptions options;
        options.host = peers.rank() % 2 == 0 ? "even" : "odd";
        return options;
      });
}

TEST(Team, StreamsThePiecesOfOneProcessAfterTheOther) {
  for (unsigned count = 1; count <= 5; ++count) {
    LocalNetwork network(count, count);
    Message heard;
    expect_no_verdict(verdicts_on_hosts(network, [&](Team& team) {
      for (int round = 0; round < 2; ++round) {
        team.stream(
            [&](const auto& put) {
              for (std::size_t piece = 0; piece < team.rank() + 1; ++piece) {
                put(Message(piece * 70'000, std::byte(team.rank())));
              }
            },
            [&](ConstByteSpan piece) {
              EXPECT_EQ(team.rank(), 0);
              heard.insert(heard.end(), piece.begin(), piece.end());
            });
      }
    }));
    Message wanted;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t rank = 0; rank < count; ++rank) {
        wanted.insert(wanted.end(), rank * (rank + 1) / 2 * 70'000, std::byte(rank));
      }
    }
    EXPECT_TRUE(heard == wanted) << count << " processes";
  }
}

TEST(Team, LosesNoProcessWhileAPieceIsWritten) {
  LocalNetwork network(3);
  std::size_t heard = 0;
  expect_no_verdict(verdicts_on_hosts(
      network,
      [&](Team& team) {
        team.stream([](const auto& put) { put(Message(5, std::byte(1))); },
                    [&](ConstByteSpan piece) {
                      heard += piece.size();
                      std::this_thread::sleep_for(std::chrono::milliseconds(900));
                    });
        team.meet();
      },
      std::chrono::milliseconds(300)));
  EXPECT_EQ(heard, 15);
}

TEST(Team, EndsEverybodyWithTheFirstError) {
  for (unsigned failing = 0; failing < 5; ++failing) {
    LocalNetwork network(5, failing);
    const auto verdicts = verdicts_on_hosts(network, [&](Team& team) {
      team.meet();
      if (team.rank() == failing) throw Error(ErrorKind::kInput, "reading", "it is broken");
      team.meet();
      ADD_FAILURE() << "the others wait for the one that failed";
    });
    for (const auto& verdict : verdicts) {
      ASSERT_TRUE(verdict);
      const std::string rank = std::to_string(failing);
      EXPECT_EQ(verdict->text, "on host" + rank + " (rank " + rank + "): reading: it is broken");
      EXPECT_TRUE(verdict->is_known);
      EXPECT_TRUE(verdict->can_leave);
    }
  }
}

TEST(Team, CutsAnErrorToWhatAMessageHolds) {
  LocalNetwork network(3);
  std::size_t longest = 0;
  network.set_liar([&](unsigned, unsigned, Message& message) {
    longest = std::max(longest, message.size());
    return 1U;
  });
  std::vector<std::optional<Verdict>> verdicts(3);
  test::run_together(network, [&](Peers& peers) {
    TeamOptions options;
    options.host = std::string(200'000, 'h');
    Team team(peers, options);
    verdicts[peers.rank()] = team.run_job([&] {
      if (team.rank() == 1) throw Error(ErrorKind::kInput, "reading", "it is broken");
      team.meet();
    });
  });
  EXPECT_EQ(longest, Peers::kMostMessageBytes);
  ASSERT_TRUE(verdicts[2]);
  EXPECT_EQ(verdicts[2]->text.size(), Peers::kMostMessageBytes - sizeof(Envelope));
}

TEST(Team, AgreesOnOneErrorWhereAllFail) {
  LocalNetwork network(6);
  const auto verdicts = verdicts_on_hosts(network, [&](Team& team) {
    throw Error(ErrorKind::kInput, "reading", "bad block " + std::to_string(team.rank()));
  });
  for (const auto& verdict : verdicts) {
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->text, verdicts.front()->text);
  }
}

TEST(Team, ShowsAnErrorOfTheCommandWithoutAHost) {
  LocalNetwork network(2);
  const auto verdicts = verdicts_on_hosts(network, [&](Team& team) {
    if (team.rank() == 0) throw Error(ErrorKind::kUsage, "option '--x'", "is unknown");
    team.meet();
  });
  EXPECT_EQ(verdicts[1]->text, "option '--x': is unknown");
}

TEST(Team, NamesAHostWithAnotherVersion) {
  LocalNetwork network(3);
  std::vector<std::optional<Verdict>> verdicts(3);
  test::run_together(network, [&](Peers& peers) {
    TeamOptions options = options_of(peers);
    options.version = peers.rank() == 1 ? "gsort-mpi 1" : "gsort-mpi 2";
    Team team(peers, options);
    verdicts[peers.rank()] = team.run_job([] { ADD_FAILURE() << "an option may be unknown"; });
  });
  for (const auto& verdict : verdicts) {
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->text,
              "comparing the program's version: gsort-mpi 2 on host0 (rank 0), "
              "gsort-mpi 1 on host1 (rank 1)\n  install the same gsort-mpi on all hosts");
  }
}

TEST(Team, NamesAHostThatDoesNotAnswer) {
  LocalNetwork network(3);
  std::atomic<bool> is_over{false};
  std::vector<std::optional<Verdict>> verdicts(3);
  test::run_together(network, [&](Peers& peers) {
    Team team(peers, options_of(peers, std::chrono::milliseconds(300)));
    verdicts[peers.rank()] = team.run_job([&] {
      team.meet();
      if (team.rank() == 1) {
        while (!is_over) std::this_thread::yield();  // as if the host were stopped
      }
      team.meet();
    });
    if (peers.rank() == 0) is_over = true;
  });
  ASSERT_TRUE(verdicts[0]);
  EXPECT_NE(verdicts[0]->text.find("waiting for host1 (rank 1): it has not answered for 0.3"),
            std::string::npos)
      << verdicts[0]->text;
  EXPECT_FALSE(verdicts[0]->can_leave);
  ASSERT_TRUE(verdicts[2]);
}

// Beats keep the watch quiet, so processes that are out of step would wait forever.
TEST(Team, EndsIfProcessesAreInDifferentCollectives) {
  using Act = void (*)(Team&);
  constexpr Act kActs[] = {
      [](Team& team) { team.meet(); },
      [](Team& team) {
        std::uint64_t value = 1;
        team.sum_before(std::span(&value, 1));
      },
      [](Team& team) { (void)team.gather({}); },
      [](Team& team) { (void)team.join({}, [](Message&, ConstByteSpan) {}); },
      [](Team& team) { team.stream([](const auto&) {}, [](ConstByteSpan) {}); },
      [](Team& team) { (void)team.broadcast({}); }};
  for (std::size_t one = 0; one < std::size(kActs); ++one) {
    for (const std::size_t other : {one + 1, one + 2, one + 4}) {
      SCOPED_TRACE(testing::Message() << one << " and " << other);
      const Act first = kActs[one];
      const Act second = kActs[other % std::size(kActs)];
      LocalNetwork network(2);
      const auto verdicts = verdicts_on_hosts(
          network,
          [&](Team& team) {
            team.meet();
            (team.rank() == 0 ? first : second)(team);
            (team.rank() == 0 ? second : first)(team);
            team.meet();
          },
          std::chrono::milliseconds(1'000));
      for (const auto& verdict : verdicts) {
        ASSERT_TRUE(verdict);
        EXPECT_NE(verdict->text.find("working with other processes: host"), std::string::npos)
            << verdict->text;
      }
    }
  }
}

TEST(Team, IsForItsOwnThread) {
  LocalNetwork network(2);
  const auto verdicts =
      verdicts_on_hosts(network, [](Team& team) { team.work([&] { (void)team.gather({}); }); });
  for (const auto& verdict : verdicts) {
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->text.find("a thread other than the team's"), std::string::npos);
  }
}

// Rank 0 would answer as soon as it has been told.
TEST(Team, DoesNotWaitForASilentRank0) {
  LocalNetwork network(2);
  std::atomic<bool> is_told{false};
  network.set_liar([&](unsigned, unsigned, const Message& message) {
    is_told = is_told || MessageReader(message).take<Envelope>().kind == MessageKind::kError;
    return 1U;
  });
  const auto verdicts = verdicts_on_hosts(
      network,
      [&](Team& team) {
        team.meet();
        while (team.rank() == 0 && !is_told) std::this_thread::yield();
        while (true) team.step();
      },
      std::chrono::milliseconds(800));
  ASSERT_TRUE(verdicts[1]);
  EXPECT_FALSE(verdicts[1]->is_known);
  EXPECT_NE(verdicts[1]->text.find("waiting for host0 (rank 0)"), std::string::npos)
      << verdicts[1]->text;
}

TEST(Team, WaitsForGoodbyesOverALinkThatWasDown) {
  LocalNetwork network(3);
  std::optional<std::chrono::steady_clock::time_point> down;
  network.set_holder([&](unsigned from, unsigned to, const Message& message) {
    if (from != 1 && to != 1) return false;
    if (MessageReader(message).take<Envelope>().kind != MessageKind::kBye) return false;
    const auto now = std::chrono::steady_clock::now();
    if (!down) down = now;
    return now < *down + std::chrono::seconds(4);
  });
  test::run_together(network, [&](Peers& peers) {
    Team team(peers, options_of(peers));
    const auto verdict = team.run_job([&] { team.meet(); });
    EXPECT_FALSE(verdict) << verdict->text;
    EXPECT_TRUE(team.can_leave());
  });
}

TEST(Team, TellsRank0WithItsBeats) {
  LocalNetwork network(3);
  expect_no_verdict(verdicts_on_hosts(network, [](Team& team) {
    std::vector<unsigned> heard(3);
    team.set_reports([&] { return Message(7, std::byte(team.rank())); },
                     [&](unsigned from, ConstByteSpan report) {
                       EXPECT_EQ(report.size(), 7);
                       EXPECT_EQ(report.front(), std::byte(from));
                       ++heard[from];
                     });
    while (team.rank() == 0 && std::ranges::count(heard, 0) > 0) team.step();
    team.meet();
    team.set_reports({}, {});
    EXPECT_EQ(std::ranges::count(heard, 0), team.rank() == 0 ? 0 : 3);
  }));
}

TEST(Team, ReceivesNoMoreInAStepThanAsked) {
  LocalNetwork network(2);
  expect_no_verdict(verdicts_on_hosts(network, [](Team& team) {
    team.meet();
    for (int i = 0; team.rank() == 1 && i < 20; ++i) {
      team.send(0, MessageWriter({MessageKind::kCredit}).take());
    }
    for (std::size_t got = 0; team.rank() == 0 && got < 20;) {
      std::size_t in_step = 0;
      team.step(3);
      while (team.take()) ++in_step;
      EXPECT_LE(in_step, 3);
      got += in_step;
    }
    team.meet();
  }));
}

TEST(Team, WaitsForLongWorkWithoutLosingItsPeers) {
  LocalNetwork network(3);
  expect_no_verdict(verdicts_on_hosts(
      network,
      [&](Team& team) {
        std::atomic<int> done{0};
        team.work([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(team.rank() == 0 ? 900 : 0));
          ++done;
        });
        EXPECT_EQ(done, 1);
        team.meet();
      },
      std::chrono::milliseconds(300)));
}

TEST(Team, PassesOnWhatWorkThrows) {
  LocalNetwork network(2);
  const auto verdicts = verdicts_on_hosts(network, [&](Team& team) {
    team.work([&] {
      if (team.rank() == 1) throw Error(ErrorKind::kTemporary, "writing run 3", "disk full");
    });
    team.meet();
  });
  EXPECT_EQ(verdicts[0]->text, "on host1 (rank 1): writing run 3: disk full");
}

TEST(Team, EndsAtMessagesThatAreNone) {
  LocalNetwork network(2);
  network.set_liar([](unsigned from, unsigned, Message& message) {
    if (from == 1 && message.size() == sizeof(Envelope) + 8) message.resize(3);
    return 1U;
  });
  const auto verdicts = verdicts_on_hosts(network, [](Team& team) { team.meet(); });
  ASSERT_TRUE(verdicts[0]);
  EXPECT_NE(verdicts[0]->text.find("malformed"), std::string::npos);
}

}  // namespace
}  // namespace gsort::cluster
