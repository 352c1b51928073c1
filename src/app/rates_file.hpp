// The file that keeps a machine's rates from sort to sort. It may be deleted at any time; if it
// cannot be read or written, sorts use the usual rates.
//
// JSON, under $XDG_CACHE_HOME or ~/.cache, of at most 4 KiB:
//   {"version": 1, "processor": "AMD EPYC 9654", "core_bytes_per_second": 4.5e8,
//    "gpu_bytes_per_second": 2.5e10, "cuda_start_seconds": 0.31,
//    "limits": {"disk_read_bytes_per_second": 3.1e9, "disk_write_bytes_per_second": 1.9e9,
//               "memory_bytes_per_second": 2.2e11}}
// A rate that is not known is missing. Homes are shared, so rates of another processor are none.
// Sorts learn the rates; the limits are measured by gsort-bench ceilings --keep, all three or none.
#pragma once

#include <string>

#include "plan/rates.hpp"

namespace gsort {

class RatesFile {
 public:
  // `cache_home` and `home` are the values of the variables; null or empty where there are none.
  // Only absolute names count. Without either there is no file: nothing is known, nothing is kept.
  RatesFile(const char* cache_home, const char* home, std::string processor);

  // Empty where there is none.
  [[nodiscard]] const std::string& path() const { return path_; }

  // No rates where there is no such file of this version and this processor. `problem` becomes what
  // is wrong with a file that cannot be understood, and stays as it is otherwise.
  [[nodiscard]] Rates read(std::string& problem) const;

  // Makes the folders, if need be for the user alone, and replaces the file. Throws:
  // Error(kOutput).
  void write(const Rates& rates) const;

 private:
  std::string path_;
  std::string processor_;
};

// The rates that a sort learned: "learned rates: 429 MiB/s a core, 11.2 GiB/s on the GPU; kept in
// /a/rates.json". Requires: a rate of sorts differs.
[[nodiscard]] std::string learned_words(const Rates& before, const Rates& after,
                                        const std::string& path);

// "model name" of /proc/cpuinfo; "unknown" where it has none.
[[nodiscard]] std::string processor_name();

}  // namespace gsort
