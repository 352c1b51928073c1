// The subcommands of gsort-bench, as one table. Each measures a list of contenders, verifies their
// outputs, and puts the results into a Report.
//
// A build without CUDA has the same table; subcommands that need a card say so and measure the
// rest.
#pragma once

#include <span>
#include <string_view>

#include "bench/report.hpp"
#include "bench/request.hpp"

namespace gsort::bench {

struct Subcommand {
  std::string_view name;
  std::string_view summary;
  bool needs_device;
  void (*run)(const Request& request, Report& report);
};

[[nodiscard]] std::span<const Subcommand> subcommands();

// On the card; tools/bench/no_device.cpp replaces them in a build without CUDA.
void bench_device_sort(const Request& request, Report& report);
void bench_merge(const Request& request, Report& report);
void bench_pairs(const Request& request, Report& report);
void bench_kway(const Request& request, Report& report);
void bench_batch(const Request& request, Report& report);
void bench_host_arrays(const Request& request, Report& report);
void bench_textbook(const Request& request, Report& report);
void bench_device_ceilings(const Request& request, Report& report);

// On the host.
void bench_host_sort(const Request& request, Report& report);
void bench_host_ceilings(const Request& request, Report& report);

// The card's name, or an empty text; then `reason` says why.
[[nodiscard]] std::string device_name(std::string& reason);

}  // namespace gsort::bench
