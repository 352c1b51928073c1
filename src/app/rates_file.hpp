// The file that keeps a machine's rates from sort to sort. It may be deleted at any time; if it
// cannot be read or written, sorts use the usual rates.
//
// JSON, under $XDG_CACHE_HOME or ~/.cache, of at most 4 KiB:
//   {"version": 1, "processor": "AMD EPYC 9654", "core_bytes_per_second": 4.5e8,
//    "gpu_bytes_per_second": 2.5e10, "cuda_start_seconds": 0.31,
//    "limits": {"disk_read_bytes_per_second": 3.1e9, "disk_write_bytes_per_second": 1.9e9,
//               "memory_bytes_per_second": 2.2e11}}
// Unknown rates are missing. Several machines may share a home, so rates of another processor are
// ignored. Sorts learn the rates; `gsort-bench ceilings --keep` measures the limits, all three or
// none.
#pragma once

#include <string>

#include "plan/rates.hpp"

namespace gsort {

class RatesFile {
 public:
  // `cache_home` and `home` are the values of the variables; null or empty if they are not set.
  // Only absolute paths count. Without either there is no file: rates are neither known nor kept.
  RatesFile(const char* cache_home, const char* home, std::string processor);

  // Empty if there is none.
  [[nodiscard]] const std::string& path() const { return path_; }

  // No rates if there is no such file for this version and this processor. Sets `problem` if a file
  // cannot be parsed, and leaves it unchanged otherwise.
  [[nodiscard]] Rates read(std::string& problem) const;

  // Makes missing folders, accessible only to the user, and replaces the file. Throws:
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

// The "model name" of /proc/cpuinfo; "unknown" if it has none.
[[nodiscard]] std::string processor_name();

}  // namespace gsort
