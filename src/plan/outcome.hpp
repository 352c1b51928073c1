// What a sort did, in the plan's words: what the report is made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "element/fingerprint.hpp"

namespace gsort {

struct Outcome {
  std::uint64_t elements = 0;  // read
  std::uint64_t bytes = 0;     // of them
  std::uint64_t output_elements = 0;
  std::uint64_t runs = 0;           // 0: one chunk went straight to the output
  std::uint64_t resumed_runs = 0;   // of these, what an earlier process had left
  std::uint64_t run_key_bytes = 0;  // the keys of all runs, before packing
  std::uint64_t kept_bytes = 0;     // of runs, in host memory
  std::uint64_t device_bytes = 0;   // of runs, in device memory
  std::uint64_t spilled_bytes = 0;  // written to temporary folders, headers included
  std::uint64_t loaded_bytes = 0;   // read from temporary folders
  std::uint64_t peak_spilled_bytes = 0;
  std::uint64_t peak_memory_bytes = 0;  // resident, of the whole process
  double total_seconds = 0;
  std::uint64_t lost_nan_payloads = 0;  // NaN that the output, as text, holds without theirs
  bool verified = false;
  Fingerprint fingerprint;  // of the input; zero sums unless verified
  // False if memory ran out when the output was in place: phases and notes then lack some.
  bool is_whole = true;
  std::vector<PhaseRecord> phases;
  std::vector<LostDevice> lost_devices;
  std::vector<std::string> notes;  // choices and fallbacks of the stages, for -v
};

// What gsort -c found.
struct CheckOutcome {
  std::uint64_t elements = 0;
  std::uint64_t distinct = 0;  // meaningful if in_order
  Fingerprint fingerprint;
  bool in_order = true;
  std::uint64_t disorder_element = 0;  // the first element that comes before the one in front of it
  std::string value;                   // that element
  std::string value_before;            // the one in front of it
};

}  // namespace gsort
