#include "cluster/cluster_plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/checked.hpp"
#include "base/quoted.hpp"
#include "base/units.hpp"
#include "cluster/runs/sizes_here.hpp"
#include "options/pages/help.hpp"
#include "plan/rates.hpp"
#include "report/plan_object.hpp"

namespace gsort::cluster {
namespace {

using Json = nlohmann::ordered_json;

// 14 ns for a key of 8 bytes, up to 256 slices. Zen 4.
constexpr double kMergeCore = 0.55e9;

double as_double(std::uint64_t number) {
  return static_cast<double>(number);
}

std::uint64_t input_bytes(const ClusterPlan& plan) {
  return plan.elements * plan.file_element_bytes;
}

// The bytes that cross the network: all but the shares of `hosts` hosts, which stay there.
std::uint64_t moved_bytes(const ClusterPlan& plan, std::uint64_t bytes, std::uint64_t hosts) {
  return bytes - bytes / plan.hosts.size() * hosts;
}

std::uint64_t first_moved_bytes(const ClusterPlan& plan) {
  return plan.merges_twice ? moved_bytes(plan, plan.elements * plan.element_bytes, 1) : 0;
}

// After the first of two merges, each host has one range of the distinct elements, in order. With
// --top, the first hosts have the whole result.
std::uint64_t last_moved_bytes(const ClusterPlan& plan) {
  if (plan.is_counted) return 0;
  std::uint64_t holders = 1;
  if (plan.merges_twice) {
    const std::uint64_t stretch = std::max<std::uint64_t>(plan.elements / plan.hosts.size(), 1);
    holders =
        std::clamp<std::uint64_t>(div_up(plan.output_elements, stretch), 1, plan.hosts.size());
  }
  return moved_bytes(plan, plan.output_elements * plan.element_bytes, holders);
}

double network_seconds(const ClusterPlan& plan, std::uint64_t bytes) {
  return as_double(bytes) / as_double(plan.hosts.size()) / kNetworkBytesPerSecond;
}

PhaseTime longest(std::initializer_list<PhaseTime> times) {
  return std::max(times, [](auto& a, auto& b) { return a.seconds < b.seconds; });
}

PhaseTime slowest(const ClusterPlan& plan,
                  PhaseTime (*of_host)(const ClusterPlan&, const HostPlan&)) {
  PhaseTime slowest;
  for (const HostPlan& host : plan.hosts) slowest = longest({slowest, of_host(plan, host)});
  return slowest;
}

// The GPUs of a host sort, and merge, as fast as they get the elements.
double rate_of(const HostPlan& host, double of_core) {
  return host.devices > 0 ? host.devices * Rates::kUsualGpu : host.threads * of_core;
}

PhaseTime forming_of(const ClusterPlan& plan, const HostPlan& host) {
  const double bytes = as_double(host.elements * plan.element_bytes);
  const double read_bytes = as_double(host.elements * plan.file_element_bytes);
  return longest({{read_bytes / Rates::kUsualDiskRead, "reading the input"},
                  {bytes / rate_of(host, Rates::kUsualCore), "sorting"},
                  {as_double(host.temporary_bytes - host.distinct_bytes) / Rates::kUsualDiskWrite,
                   "writing runs"}});
}

PhaseTime first_merging_of(const ClusterPlan& plan, const HostPlan& host) {
  const double bytes = as_double(plan.elements * plan.element_bytes) / as_double(plan.hosts.size());
  return longest({{as_double(host.distinct_bytes) / Rates::kUsualDiskWrite, "writing runs"},
                  {bytes / rate_of(host, kMergeCore), "merging"},
                  {network_seconds(plan, first_moved_bytes(plan)), "the network"},
                  {as_double(host.temporary_bytes - host.distinct_bytes) / Rates::kUsualDiskRead,
                   "reading runs"}});
}

PhaseTime last_merging_of(const ClusterPlan& plan, const HostPlan& host) {
  const double elements = as_double(plan.output_elements) / as_double(plan.hosts.size());
  const double bytes = elements * as_double(plan.element_bytes);
  const double written_bytes = elements * as_double(plan.file_element_bytes);
  const std::uint64_t runs = plan.merges_twice ? host.distinct_bytes : host.temporary_bytes;
  return longest({{written_bytes / Rates::kUsualDiskWrite, "writing the output"},
                  {bytes / rate_of(host, kMergeCore), "merging"},
                  {network_seconds(plan, last_moved_bytes(plan)), "the network"},
                  {as_double(runs) / Rates::kUsualDiskRead, "reading runs"}});
}

std::string device_words(const HostPlan& host) {
  if (host.devices == 0) return {};
  return fmt::format(", {} with {}", counted(host.devices, "GPU"), format_bytes(host.device_bytes));
}

std::string deferred_words(const HostPlan& host) {
  if (host.deferred_bytes == 0) return {};
  return fmt::format(", {} if it defers parts",
                     format_bytes(host.temporary_bytes + host.deferred_bytes));
}

std::string host_words(const ClusterPlan& plan, const HostPlan& host) {
  const std::string disk = host.temporary_bytes + host.deferred_bytes == 0
                               ? std::string("no temporary files")
                               : fmt::format("up to {} of temporary files{} ({} free)",
                                             format_bytes(host.temporary_bytes),
                                             deferred_words(host), format_bytes(host.free_bytes));
  const std::string resumed =
      host.resumed_runs == 0
          ? std::string()
          : fmt::format(" ({} of {} there already)", format_count(host.resumed_runs),
                        format_bytes(host.resumed_elements * plan.element_bytes));
  return fmt::format("reads {}, {}{}, {}; {}, at most {} of memory{}",
                     format_bytes(host.elements * plan.file_element_bytes),
                     counted(host.runs, "run"), resumed, disk, counted(host.threads, "thread"),
                     format_bytes(host.memory_bytes), device_words(host));
}

std::string time_words(const char* phase, const PhaseTime& time) {
  return fmt::format("{} {:.3g} s ({})", phase, time.seconds, time.bound);
}

std::string network_words(const ClusterPlan& plan) {
  if (plan.is_counted) return "sums of counts: keys of one and two bytes are counted";
  const std::uint64_t bytes = network_bytes(plan);
  return fmt::format(
      "{} if the input is in random order, {} out of each host; packing makes it less",
      format_bytes(bytes), format_bytes(bytes / plan.hosts.size()));
}

std::string text_of(const ClusterPlan& plan) {
  std::size_t width = std::string_view("network").size();
  for (const std::string& name : plan.names) width = std::max(width, name.size());
  std::string text;
  const auto add = [&](std::string_view label, const std::string& words) {
    text += fmt::format("{:<{}}  {}\n", label, width, words);
  };
  add("input",
      fmt::format("{}, {}, on {}", format_bytes(input_bytes(plan)),
                  counted(plan.elements, "element"), counted(plan.hosts.size(), "process", "es")));
  for (std::size_t rank = 0; rank < plan.hosts.size(); ++rank) {
    add(plan.names[rank], host_words(plan, plan.hosts[rank]));
  }
  if (!plan.lustre_folder.empty()) {
    add("output",
        "on Lustre: all processes write to one storage target if the file is not striped; "
        "lfs setstripe -c -1 " +
            printable(plan.lustre_folder) + " before the sort uses all targets");
  }
  add("network", network_words(plan));
  add("time", time_words("forming runs", forming_time(plan)) + ", " +
                  time_words("merging", merging_time(plan)));
  add("", fmt::format("at {} from a disk, {} to it, {} out of a host",
                      rate_words(Rates::kUsualDiskRead), rate_words(Rates::kUsualDiskWrite),
                      rate_words(kNetworkBytesPerSecond)));
  return text;
}

Json phase_object(const char* name, const PhaseTime& time) {
  return {{"name", name}, {"seconds", time.seconds}, {"bound", time.bound}};
}

std::string json_of(const ClusterPlan& plan) {
  Json hosts = Json::array();
  for (std::size_t rank = 0; rank < plan.hosts.size(); ++rank) {
    const HostPlan& host = plan.hosts[rank];
    hosts.push_back({{"name", plan.names[rank]},
                     {"elements", host.elements},
                     {"runs", host.runs},
                     {"resumed_runs", host.resumed_runs},
                     {"resumed_elements", host.resumed_elements},
                     {"temporary_bytes", host.temporary_bytes},
                     {"deferred_bytes", host.deferred_bytes},
                     {"free_bytes", host.free_bytes},
                     {"memory_bytes", host.memory_bytes},
                     {"threads", host.threads},
                     {"devices", host.devices},
                     {"device_bytes", host.device_bytes}});
  }
  const Json all = {
      {"program", version_text(Program::kCluster)},
      {"bytes", input_bytes(plan)},
      {"elements", plan.elements},
      {"network_bytes", network_bytes(plan)},
      {"phases",
       {phase_object("form", forming_time(plan)), phase_object("merge", merging_time(plan))}},
      {"hosts", hosts}};
  return json_text(all);
}

}  // namespace

HostPlan host_plan(const Plan& plan, const Machine& machine) {
  HostPlan host;
  host.elements = plan.elements - plan.resumed.elements;
  host.resumed_runs = plan.resumed.runs;
  host.resumed_elements = plan.resumed.elements;
  host.runs = planned_runs(plan);
  host.temporary_bytes = plan.temporary_bytes;
  host.memory_bytes = plan.host_budget_bytes;
  host.threads = plan.threads;
  host.devices = static_cast<unsigned>(plan.devices.size());
  host.device_bytes = plan.device_budget_bytes();
  std::map<std::uint64_t, std::uint64_t> free;  // by file system
  for (const Folder& folder : machine.temporary) free[folder.file_system] = folder.free_bytes;
  for (const auto& [system, bytes] : free) host.free_bytes = capped_sum(host.free_bytes, bytes);
  return host;
}

PhaseTime forming_time(const ClusterPlan& plan) {
  return slowest(plan, forming_of);
}

PhaseTime merging_time(const ClusterPlan& plan) {
  const PhaseTime last = slowest(plan, last_merging_of);
  if (!plan.merges_twice) return last;
  const PhaseTime first = slowest(plan, first_merging_of);
  return {first.seconds + last.seconds, longest({first, last}).bound};
}

std::uint64_t network_bytes(const ClusterPlan& plan) {
  return first_moved_bytes(plan) + last_moved_bytes(plan);
}

std::string explain(const ClusterPlan& plan, ExplainMode mode) {
  return mode == ExplainMode::kJson ? json_of(plan) : text_of(plan);
}

}  // namespace gsort::cluster
