// Replaces the card in a build without CUDA. The subcommands that need one fail before they are
// called, since there is no device name.
#include "bench/subcommands.hpp"

namespace gsort::bench {

std::string device_name(std::string& reason) {
  reason = "this build has no CUDA";
  return "";
}

void bench_device_sort(const Request& /*request*/, Report& /*report*/) {}
void bench_merge(const Request& /*request*/, Report& /*report*/) {}
void bench_pairs(const Request& /*request*/, Report& /*report*/) {}
void bench_kway(const Request& /*request*/, Report& /*report*/) {}
void bench_batch(const Request& /*request*/, Report& /*report*/) {}
void bench_host_arrays(const Request& /*request*/, Report& /*report*/) {}
void bench_textbook(const Request& /*request*/, Report& /*report*/) {}
void bench_device_ceilings(const Request& /*request*/, Report& /*report*/) {}

}  // namespace gsort::bench
