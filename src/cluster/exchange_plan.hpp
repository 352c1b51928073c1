// The sizes of the exchange under a budget of memory: a pure function, asked when the runs of all
// processes are known.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/sizes.hpp"

namespace gsort::cluster {

// `elements` are those of the whole output.
struct ExchangeQuestion : SizeQuestion {
  unsigned ranks = 1;
  std::uint64_t runs_here = 0;
  std::uint64_t runs = 0;  // of all processes
  std::uint64_t block_bytes = 0;
  std::uint64_t run_scratch_bytes = 0;
};

struct ExchangePlan {
  std::uint64_t part_elements = 0;
  unsigned lanes = 0;               // as many on each device
  unsigned workers = 0;             // threads that load, pack and unpack
  std::uint64_t scratch_bytes = 0;  // of each
  std::uint64_t backlog = 0;        // frames that may wait to be unpacked
  unsigned slots = 0;               // cuts that are searched for at once
  std::uint64_t arena_bytes = 0;    // of all lanes
};

// None if not even parts of one element fit.
[[nodiscard]] std::optional<ExchangePlan> plan_exchange(const ExchangeQuestion& question);

// The memory that an exchange by this plan takes.
[[nodiscard]] std::uint64_t exchange_bytes(const ExchangeQuestion& question,
                                           const ExchangePlan& plan);

}  // namespace gsort::cluster
