// --explain of a sort on several machines: what each host would do, what crosses the network, and
// what bounds the time. Pure functions of what the hosts say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// The plan of a process, as it is sent to rank 0.
struct HostPlan {
  std::uint64_t elements = 0;      // that it reads of the input
  std::uint64_t runs = 0;          // as many as planned, with those of earlier sorts
  std::uint64_t resumed_runs = 0;  // of these, the runs of earlier sorts
  std::uint64_t resumed_elements = 0;
  std::uint64_t temporary_bytes = 0;  // the most on disk at once
  std::uint64_t distinct_bytes = 0;   // of these, in the run of distinct elements
  std::uint64_t deferred_bytes = 0;   // in addition, if it defers parts
  std::uint64_t free_bytes = 0;       // in its temporary folders
  std::uint64_t memory_bytes = 0;     // -S
  unsigned threads = 1;
  unsigned devices = 0;            // GPUs
  std::uint64_t device_bytes = 0;  // of their memory
};

[[nodiscard]] HostPlan host_plan(const Plan& plan, const Machine& machine);

struct ClusterPlan {
  std::uint64_t elements = 0;            // of the input
  std::uint64_t output_elements = 0;     // fewer with --top
  std::uint64_t element_bytes = 1;       // in runs and on the network; --shuffle adds a number
  std::uint64_t file_element_bytes = 1;  // in the input and the output
  bool is_counted = false;               // no element moves
  bool merges_twice = false;             // all elements first, and then those that are distinct
  std::string lustre_folder;  // in which all write one output; empty on other file systems
  std::vector<std::string> names;
  std::vector<HostPlan> hosts;  // by rank
};

// The time of a phase of all hosts: that of the longest of the steps that overlap.
struct PhaseTime {
  double seconds = 0;
  const char* bound = "";
};

// At the rates of hosts that were measured, and kNetworkBytesPerSecond out of each host.
inline constexpr double kNetworkBytesPerSecond = 25e9 / 8;
[[nodiscard]] PhaseTime forming_time(const ClusterPlan& plan);
[[nodiscard]] PhaseTime merging_time(const ClusterPlan& plan);

// The bytes on the network if elements are not packed, all different and in random order: each host
// needs an equal part of the elements that each other host has read. 0 where keys are counted.
[[nodiscard]] std::uint64_t network_bytes(const ClusterPlan& plan);

// Requires: mode is not kNone.
[[nodiscard]] std::string explain(const ClusterPlan& plan, ExplainMode mode);

}  // namespace gsort::cluster
