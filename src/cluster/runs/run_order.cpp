#include "cluster/runs/run_order.hpp"

#include <numeric>
#include <span>

namespace gsort::cluster {
namespace {

using Counts = std::vector<std::uint64_t>;

// One number of each search goes to the other processes.
std::vector<Counts> before_by_number(Team& team, const std::vector<Counts>& ties) {
  Counts before;
  for (const Counts& of_runs : ties) {
    before.push_back(std::accumulate(of_runs.begin(), of_runs.end(), std::uint64_t{0}));
  }
  team.sum_before(before);
  std::vector<Counts> all;
  for (std::size_t search = 0; search < ties.size(); ++search) {
    Counts& of_runs = all.emplace_back(ties[search].size());
    std::exclusive_scan(ties[search].begin(), ties[search].end(), of_runs.begin(), before[search]);
  }
  return all;
}

// One number of each search and run.
std::vector<Counts> before_in_order(Team& team, const RunOrder& order,
                                    const std::vector<Counts>& ties) {
  const std::size_t runs = order.runs.size();
  Counts by_place(ties.size() * runs);
  for (std::size_t search = 0; search < ties.size(); ++search) {
    for (std::size_t run = 0; run < order.places.size(); ++run) {
      by_place[search * runs + order.places[run]] = ties[search][run];
    }
  }
  team.sum(by_place);
  std::vector<Counts> all;
  for (std::size_t search = 0; search < ties.size(); ++search) {
    const auto places = std::span(by_place).subspan(search * runs, runs);
    std::exclusive_scan(places.begin(), places.end(), places.begin(), std::uint64_t{0});
    Counts& of_runs = all.emplace_back();
    for (const std::uint64_t place : order.places) of_runs.push_back(places[place]);
  }
  return all;
}

}  // namespace

std::vector<Counts> ties_before(Team& team, const RunOrder& order,
                                const std::vector<Counts>& ties) {
  return order.is_by_number() ? before_by_number(team, ties) : before_in_order(team, order, ties);
}

}  // namespace gsort::cluster
