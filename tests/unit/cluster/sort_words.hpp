// Inputs and options for tests of whole jobs, and the calls that run the jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "cluster/cluster_sort.hpp"
#include "options/options.hpp"
#include "unit/cluster/local_team.hpp"

namespace gsort::cluster::test {

using Keys = std::vector<std::uint32_t>;

inline Options options_of(std::vector<const char*> words) {
  words.insert(words.begin(), "gsort-mpi");
  const Environment none = [](const char*) -> const char* { return nullptr; };
  return parse_options(static_cast<int>(words.size()), words.data(), none, {}, Program::kCluster);
}

inline ConstByteSpan bytes_of(const Keys& keys) {
  return std::as_bytes(std::span(keys));
}

inline Keys random_keys(std::size_t count, std::uint32_t below) {
  std::mt19937 random(static_cast<unsigned>(count));
  Keys keys(count);
  std::ranges::generate(keys, [&] { return random() % below; });
  return keys;
}

using OptionsOf = std::function<Options(unsigned rank)>;

struct Ended {
  std::string error;              // of rank 0; empty: the job succeeded
  ClusterOutcome outcome{false};  // of rank 0
  std::string plan;               // of rank 0, with --explain
};

inline Ended sort_by(LocalNetwork& network, const OptionsOf& options_of_rank,
                     const TeamOptionsOf& team_options = {}) {
  Ended ended;
  const auto job = [&](Team& team) {
    Options options = options_of_rank(team.rank());
    if (options.parts) options.split_output = network.count();
    if (options.explain != ExplainMode::kNone) {
      std::string plan = explain_on_cluster(team, options);
      if (team.rank() == 0) ended.plan = std::move(plan);
      return;
    }
    std::function<void()> on_leave;
    ClusterOutcome outcome = sort_on_cluster(team, options, on_leave, nullptr);
    if (team.rank() == 0) ended.outcome = std::move(outcome);
  };
  ended.error = error_of_job(network, job, team_options);
  return ended;
}

inline Ended sort_by(LocalNetwork& network, const Options& options) {
  return sort_by(network, [&](unsigned) { return options; });
}

// The number of processes is also the seed for the order of messages.
inline Ended sort_by(unsigned processes, const Options& options) {
  LocalNetwork network(processes, processes);
  return sort_by(network, options);
}

}  // namespace gsort::cluster::test
