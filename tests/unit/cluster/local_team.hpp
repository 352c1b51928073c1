// Jobs by threads of one process, which stand for processes of several machines: each thread calls
// the job with a Team of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/message.hpp"
#include "cluster/team.hpp"
#include "unit/cluster/local_peers.hpp"

namespace gsort::cluster::test {

using TeamJob = std::function<void(Team& team)>;
using TeamOptionsOf = std::function<TeamOptions(const Peers& peers)>;

// Returns the verdicts by rank.
inline std::vector<std::optional<Verdict>> verdicts_of(LocalNetwork& network, const TeamJob& job,
                                                       const TeamOptionsOf& options = {}) {
  std::vector<std::optional<Verdict>> verdicts(network.count());
  run_together(network, [&](Peers& peers) {
    Team team(peers, options ? options(peers) : TeamOptions());
    verdicts[peers.rank()] = team.run_job([&] { job(team); });
  });
  return verdicts;
}

// The text of the verdict, which all processes have; empty if the job succeeded.
inline std::string error_of_job(LocalNetwork& network, const TeamJob& job,
                                const TeamOptionsOf& options = {}) {
  const auto verdicts = verdicts_of(network, job, options);
  std::string text = verdicts.front() ? verdicts.front()->text : "";
  for (const auto& verdict : verdicts) EXPECT_EQ(verdict ? verdict->text : "", text);
  return text;
}

// Runs a job that must succeed in all processes.
inline void run_job(LocalNetwork& network, const TeamJob& job, const TeamOptionsOf& options = {}) {
  for (const auto& verdict : verdicts_of(network, job, options)) {
    EXPECT_FALSE(verdict) << verdict->text;
  }
}

[[nodiscard]] inline Envelope envelope_of(const Message& message) {
  return MessageReader(message).take<Envelope>();
}

}  // namespace gsort::cluster::test
