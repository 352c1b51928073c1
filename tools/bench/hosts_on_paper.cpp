// 100 TB on 8, 64 and 1,024 hosts, on paper: the sizes are those that gsort-mpi itself plans for
// such hosts, the times are bytes over rates, and each rate says where it comes from. Prints the
// tables of tools/bench/results/hosts-on-paper.txt; the test cluster.guide compares them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/units.hpp"
#include "cluster/cluster_plan.hpp"
#include "cluster/cuts/cuts.hpp"
#include "cluster/exchange_plan.hpp"
#include "cluster/frame.hpp"
#include "cluster/part_table.hpp"
#include "cluster/runs/sizes_here.hpp"
#include "options/options.hpp"
#include "plan/make_plan.hpp"

namespace gsort::cluster {
namespace {

constexpr std::uint64_t kBytes = 100'000'000'000'000;
constexpr std::uint64_t kKeyBytes = 8;

// The assumed hosts.
constexpr unsigned kCores = 16;
constexpr std::uint64_t kMemory = 256 * kGiB;
constexpr std::uint64_t kScratch = 16'000'000'000'000;
constexpr double kSharedOfHost = 2e9;   // bytes a second, each way
constexpr double kSharedOfAll = 500e9;  // the same, of all hosts together
constexpr double kMessageSeconds = 50e-6;
constexpr double kReadSeconds = 80e-6;  // until a read of the scratch disk begins to give bytes
constexpr std::uint64_t kOpenFiles = 524'288;

// Measured with random u64.
constexpr std::uint64_t kOwnFiles = 26;
constexpr std::uint64_t kFilesOfAPeer = 1;
constexpr double kExtraBits = 4.5;
constexpr double kMergeNs = 16;
constexpr double kBlocksOfACut = 1.1;
constexpr double kCutSeconds = 23e-6;
constexpr double kRoundsOfABatch = 5;
constexpr double kSumBytesOfABorder = 1'200;
constexpr double kMpiThread = 2e9;  // bytes a second that it sends and receives, over TCP
struct SliceCost {
  double slices;
  double ns;
};
constexpr SliceCost kSliceCosts[] = {{16, 3.8}, {256, 4.3}, {1024, 4.7}, {10'000, 8.8}};

double as_double(std::uint64_t number) {
  return static_cast<double>(number);
}

// Interpolates linearly in the logarithm between measured values.
double slice_ns(double slices) {
  const SliceCost* above = std::ranges::upper_bound(kSliceCosts, slices, {}, &SliceCost::slices);
  above = std::clamp(above, std::begin(kSliceCosts) + 1, std::end(kSliceCosts) - 1);
  const SliceCost& low = above[-1];
  const double place = std::log(slices / low.slices) / std::log(above->slices / low.slices);
  return std::max(low.ns + place * (above->ns - low.ns), kSliceCosts[0].ns);
}

double merge_ns(double slices) {
  return kMergeNs - kSliceCosts[0].ns + slice_ns(slices);
}

Plan plan_of_share(std::uint64_t bytes) {
  Options options;
  options.key.type = KeyType::kU64;
  options.inputs = {"in"};
  Job job = make_job(options);
  job.forms_share = true;
  Machine machine;
  machine.cores = kCores;
  machine.memory_bytes = machine.available_bytes = kMemory;
  machine.temporary = {{"/scratch", 1, kScratch, ""}};
  machine.input_bytes = bytes;
  return make_plan(job, machine);
}

// A cluster of equal hosts.
class Cluster {
 public:
  explicit Cluster(unsigned hosts)
      : hosts_(hosts), plan_(plan_of_share(kBytes / hosts)), exchange_(planned_exchange()) {}

  [[nodiscard]] double share() const { return as_double(kBytes / hosts_); }
  [[nodiscard]] std::uint64_t runs_here() const { return plan_.run.count; }
  [[nodiscard]] std::uint64_t runs() const { return runs_here() * hosts_; }
  [[nodiscard]] double run_bytes() const { return share() / as_double(runs_here()); }
  // The share of the bytes of keys that packing leaves.
  [[nodiscard]] double packed() const {
    return (64 - std::log2(run_bytes() / kKeyBytes) + kExtraBits) / 64;
  }
  [[nodiscard]] double spilled() const {
    return std::max(share() * packed() - as_double(plan_.run.kept_bytes()), 0.0);
  }
  [[nodiscard]] std::uint64_t block_bytes() const { return plan_.run.block_elements * kKeyBytes; }
  [[nodiscard]] double part_bytes() const { return as_double(exchange_.part_elements * kKeyBytes); }
  [[nodiscard]] std::uint64_t parts_here() const {
    return div_up(kBytes / hosts_ / kKeyBytes, exchange_.part_elements);
  }
  [[nodiscard]] std::uint64_t borders() const { return parts_here() * hosts_; }
  [[nodiscard]] double slice_bytes() const { return part_bytes() / as_double(runs()); }
  [[nodiscard]] double batches() const { return std::ceil(as_double(borders()) / exchange_.slots); }
  [[nodiscard]] double steps_of_a_sum() const { return 2 * std::ceil(std::log2(hosts_)); }
  [[nodiscard]] std::uint64_t rounds() const {
    return static_cast<std::uint64_t>(batches() * kRoundsOfABatch);
  }
  [[nodiscard]] double sum_bytes() const { return as_double(borders()) * kSumBytesOfABorder; }
  // Blocks on the disk that are read for cuts.
  [[nodiscard]] double cut_reads() const {
    const double on_disk = spilled() / (share() * packed());
    return as_double(borders() * runs_here()) * kBlocksOfACut * on_disk;
  }
  [[nodiscard]] double cut_read_bytes() const {
    return cut_reads() * as_double(block_bytes()) * packed();
  }
  [[nodiscard]] double sent() const { return share() * packed() * (1 - 1.0 / hosts_); }
  [[nodiscard]] std::uint64_t frames() const {
    const double of_a_slice = std::ceil(slice_bytes() / kMostFrameBytes);
    return (borders() - parts_here()) * runs_here() * static_cast<std::uint64_t>(of_a_slice);
  }
  [[nodiscard]] std::uint64_t credits() const { return parts_here() * (hosts_ - 1); }
  [[nodiscard]] std::uint64_t open_files() const {
    return kOwnFiles + kFilesOfAPeer * (hosts_ - 1);
  }
  [[nodiscard]] std::uint64_t exchange_memory() const {
    return exchange_bytes(question(), exchange_);
  }
  [[nodiscard]] std::uint64_t exchange_budget() const { return question().host_bytes; }

  [[nodiscard]] PhaseTime forming() const {
    return longest(
        {{share() / shared(), shares_a_limit() ? "the shared files of all" : "reading the input"},
         {share() / (kCores * Rates::kUsualCore), "sorting"},
         {spilled() / Rates::kUsualDiskWrite, "writing runs"}});
  }
  [[nodiscard]] double waiting_for_sums() const {
    const double bytes_a_round = sum_bytes() / batches() / kRoundsOfABatch;
    return batches() * kRoundsOfABatch * steps_of_a_sum() *
           (kMessageSeconds + bytes_a_round / kNetworkBytesPerSecond);
  }
  [[nodiscard]] PhaseTime cutting() const {
    return longest({{waiting_for_sums(), "sums of all hosts"},
                    {as_double(borders() * runs_here()) * kCutSeconds / kCores, "searching fences"},
                    {cut_reads() * kReadSeconds / cut_threads(kCores) +
                         cut_read_bytes() / Rates::kUsualDiskRead,
                     "reading blocks"}});
  }
  [[nodiscard]] PhaseTime merging() const {
    const double ns = merge_ns(as_double(runs()));
    return longest(
        {{share() / shared(), shares_a_limit() ? "the shared files of all" : "writing the output"},
         {share() / kKeyBytes * ns * 1e-9 / kCores, "merging"},
         {sent() / kNetworkBytesPerSecond, "the network"},
         {2 * sent() / kMpiThread, "the thread that calls MPI"},
         {spilled() / Rates::kUsualDiskRead, "reading runs"}});
  }
  // The quantity that is nearest to its limit.
  [[nodiscard]] std::string breaks_first() const {
    struct Limit {
      double used;
      const char* what;
    };
    const Limit limits[] = {
        {as_double(open_files()) / kOpenFiles, "open files"},
        {as_double(plan_.temporary_bytes) / kScratch, "scratch space"},
        {kMostFrameBytes / slice_bytes(), "slices shorter than a frame"},
        {cutting().seconds / merging().seconds, "time of the cuts, of that of merging"},
        {slice_ns(as_double(runs())) / kSliceCosts[0].ns - 1, "time of more slices in a merge"}};
    const Limit& nearest = *std::ranges::max_element(limits, {}, &Limit::used);
    return fmt::format("{} ({:.0f}%)", nearest.what, 100 * nearest.used);
  }

 private:
  static PhaseTime longest(std::initializer_list<PhaseTime> times) {
    return *std::ranges::max_element(times, {}, &PhaseTime::seconds);
  }
  [[nodiscard]] double shared() const { return std::min(kSharedOfHost, kSharedOfAll / hosts_); }

  [[nodiscard]] bool shares_a_limit() const { return shared() < kSharedOfHost; }

  // As gsort-mpi asks when the runs are formed.
  [[nodiscard]] ExchangeQuestion question() const {
    ExchangeQuestion q = exchange_question(plan_, plan_.elements, hosts_);
    q.elements = kBytes / kKeyBytes;
    q.runs_here = runs_here();
    q.runs = runs();
    return q;
  }
  [[nodiscard]] ExchangePlan planned_exchange() const { return plan_exchange(question()).value(); }

  unsigned hosts_;
  Plan plan_;
  ExchangePlan exchange_;
};

std::string bytes_words(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string time_words(const PhaseTime& time) {
  return fmt::format(
      "{} s, {}", format_count(static_cast<std::uint64_t>(std::llround(time.seconds))), time.bound);
}

struct Row {
  const char* name;
  std::string (*of)(const Cluster& cluster);
};

constexpr Row kRows[] = {
    {"share of a host", [](const Cluster& c) { return bytes_words(c.share()); }},
    {"its runs, packed",
     [](const Cluster& c) {
       return fmt::format("{} of {}", format_count(c.runs_here()),
                          bytes_words(c.run_bytes() * c.packed()));
     }},
    {"of these on its disk", [](const Cluster& c) { return bytes_words(c.spilled()); }},
    {"**forming runs**, bound by", [](const Cluster& c) { return time_words(c.forming()); }},
    {"fan-in: runs of all hosts", [](const Cluster& c) { return format_count(c.runs()); }},
    {"parts of a host",
     [](const Cluster& c) {
       return fmt::format("{} of {}", format_count(c.parts_here()), bytes_words(c.part_bytes()));
     }},
    {"a slice, a block",
     [](const Cluster& c) {
       return fmt::format("{}, {}", bytes_words(c.slice_bytes()),
                          bytes_words(as_double(c.block_bytes())));
     }},
    {"borders, rounds of sums",
     [](const Cluster& c) {
       return fmt::format("{}, {}", format_count(c.borders()), format_count(c.rounds()));
     }},
    {"bytes of these sums", [](const Cluster& c) { return bytes_words(c.sum_bytes()); }},
    {"blocks read for cuts", [](const Cluster& c) { return bytes_words(c.cut_read_bytes()); }},
    {"**cutting**, bound by", [](const Cluster& c) { return time_words(c.cutting()); }},
    {"bytes out of a host", [](const Cluster& c) { return bytes_words(c.sent()); }},
    {"frames, credits of a host",
     [](const Cluster& c) {
       return fmt::format("{}, {}", format_count(c.frames()), format_count(c.credits()));
     }},
    {"memory of the exchange",
     [](const Cluster& c) {
       return fmt::format("{} of {}", bytes_words(as_double(c.exchange_memory())),
                          bytes_words(as_double(c.exchange_budget())));
     }},
    {"merging, ns a key and core",
     [](const Cluster& c) { return fmt::format("{:.1f}", merge_ns(as_double(c.runs()))); }},
    {"**exchange and merge**, bound by", [](const Cluster& c) { return time_words(c.merging()); }},
    {"open files of a process", [](const Cluster& c) { return format_count(c.open_files()); }},
    {"nearest to its limit", [](const Cluster& c) { return c.breaks_first(); }}};

std::string slice_costs() {
  std::string text;
  for (const SliceCost& cost : kSliceCosts) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ",
                        format_count(static_cast<std::uint64_t>(cost.slices)), cost.ns);
  }
  return text;
}

struct Constant {
  const char* name;
  std::string value;
  const char* source;
};

std::vector<Constant> constants() {
  constexpr const char* kMeasured = "`tools/bench/results/2-cores-cluster.txt`";
  constexpr const char* kCuts = "`tools/bench/results`, several hosts";
  return {
      {"a host",
       fmt::format("{} cores, {}, {} of scratch", kCores, format_bytes(kMemory),
                   bytes_words(as_double(kScratch))),
       "assumed"},
      {"shared files",
       fmt::format("{}/s each way for a host, {}/s for all", bytes_words(kSharedOfHost),
                   bytes_words(kSharedOfAll)),
       "assumed"},
      {"scratch disk",
       fmt::format("{}/s read, {}/s written", bytes_words(Rates::kUsualDiskRead),
                   bytes_words(Rates::kUsualDiskWrite)),
       "`src/plan/rates.hpp`"},
      {"network out of a host", fmt::format("{}/s", bytes_words(kNetworkBytesPerSecond)),
       "`cluster_plan.hpp`"},
      {"a message between two hosts", fmt::format("{:.0f} µs", kMessageSeconds * 1e6), "assumed"},
      {"a read of the scratch disk", fmt::format("{:.0f} µs, then its bytes", kReadSeconds * 1e6),
       "assumed"},
      {"reads of it at once, for borders", format_count(cut_threads(kCores)), "`cuts/cuts.hpp`"},
      {"open files", format_count(kOpenFiles), "the usual `ulimit -Hn` with systemd"},
      {"a process has open", fmt::format("{}, and {} for each other one", kOwnFiles, kFilesOfAPeer),
       kMeasured},
      {"forming runs", fmt::format("{}/s and core", bytes_words(Rates::kUsualCore)),
       "`src/plan/rates.hpp`"},
      {"a packed key", fmt::format("64 - log2(keys of a run) + {} bits", kExtraBits), kMeasured},
      {"merging, 16 slices", fmt::format("{} ns a key and core", kMergeNs), kMeasured},
      {"of that by slices", slice_costs(), "`tools/bench/results/tried.md`"},
      {"rounds of sums", fmt::format("{} for a batch of borders", kRoundsOfABatch), kCuts},
      {"bytes of sums", fmt::format("{} for a border", bytes_words(kSumBytesOfABorder)), kCuts},
      {"searching fences and blocks",
       fmt::format("{:.0f} µs for a border and run, of one core", kCutSeconds * 1e6), kCuts},
      {"blocks read", fmt::format("{} for a border and run", kBlocksOfACut), kCuts},
      {"the thread that calls MPI",
       fmt::format("{}/s, sent and received over TCP", bytes_words(kMpiThread)), kMeasured}};
}

}  // namespace
}  // namespace gsort::cluster

int main() {
  using namespace gsort::cluster;
  const std::vector<Cluster> clusters = {Cluster(8), Cluster(64), Cluster(1024)};
  fmt::print("| 100 TB of random u64 on | 8 hosts | 64 hosts | 1,024 hosts |\n");
  fmt::print("| --- | --- | --- | --- |\n");
  for (const Row& row : kRows) {
    fmt::print("| {} |", row.name);
    for (const Cluster& cluster : clusters) fmt::print(" {} |", row.of(cluster));
    fmt::print("\n");
  }
  fmt::print("\n| constant | value | source |\n| --- | --- | --- |\n");
  for (const auto& [name, value, source] : constants()) {
    fmt::print("| {} | {} | {} |\n", name, value, source);
  }
}
