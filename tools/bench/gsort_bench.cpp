// gsort-bench: measures gsort's parts beside CUB's, the textbook's and the machine's ceilings. This
// file lists the subcommands, which have files of their own.
#include <exception>
#include <iostream>
#include <string>

#include "base/error.hpp"
#include "bench/subcommands.hpp"

namespace gsort::bench {
namespace {

// On the card if there is one, unless the request says where.
void bench_sort(const Request& request, Report& report) {
  std::string reason;
  const bool has_device = !device_name(reason).empty();
  if (request.engine == EngineChoice::kCpu) return bench_host_sort(request, report);
  if (has_device) return bench_device_sort(request, report);
  if (request.engine == EngineChoice::kCuda) {
    throw Error(ErrorKind::kDevice, "--engine cuda", reason);
  }
  report.say("on the host: " + reason);
  bench_host_sort(request, report);
}

void bench_ceilings(const Request& request, Report& report) {
  std::string reason;
  if (device_name(reason).empty()) {
    report.say("the host's ceilings only: " + reason);
  } else {
    bench_device_ceilings(request, report);
  }
  bench_host_ceilings(request, report);
}

constexpr Subcommand kSubcommands[] = {
    {"merge", "two sorted halves to one: ours and CUB's", true, bench_merge},
    {"sort", "keys: ours and CUB's; without a card: the CPU engine, std::sort, VQSort", false,
     bench_sort},
    {"pairs", "keys with payloads, stable", true, bench_pairs},
    {"kway", "2 to 10,000 sorted slices to one: ours, a tree of CUB's merges, sorting anew", true,
     bench_kway},
    {"batch", "N arrays of d keys, or pairs, each", true, bench_batch},
    {"host", "keys in pinned host memory, there and back: ours, CUB's, the bus alone", true,
     bench_host_arrays},
    {"textbook", "the kernels gsort grew from, beside CUB's, ours and the CPU", true,
     bench_textbook},
    {"ceilings", "device copy, bus, disk, page cache: what no sort can pass", false,
     bench_ceilings},
};

int run(int argc, char** argv) {
  const auto request = parse_request(argc, argv);
  if (!request) return 0;
  for (const Subcommand& subcommand : subcommands()) {
    if (subcommand.name != request->subcommand) continue;
    std::string reason;
    const std::string device = device_name(reason);
    if (device.empty() && subcommand.needs_device) {
      throw Error(ErrorKind::kDevice, "gsort-bench " + request->subcommand, reason)
          .hint("sort and ceilings measure the host, too");
    }
    Report report(*request, device, std::cout);
    subcommand.run(*request, report);
    report.finish();
    return report.all_verified() ? 0 : 1;
  }
  throw Error(ErrorKind::kUsage, "'" + request->subcommand + "'", "is no subcommand")
      .hint("gsort-bench -h shows what there is");
}

}  // namespace

std::span<const Subcommand> subcommands() {
  return kSubcommands;
}

}  // namespace gsort::bench

int main(int argc, char** argv) {
  try {
    return gsort::bench::run(argc, argv);
  } catch (const std::exception& problem) {
    std::cerr << "gsort-bench: " << problem.what() << '\n';
    return 2;
  }
}
