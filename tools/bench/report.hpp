// Report: the results of a run, as tables for people and as JSON for gsort-plot.
//
// Results come in groups: contenders that did the same work on the same inputs. A table's
// columns:
//   ms        median time of the timed runs
//   Gkeys/s   keys in that time
//   GB/s      2 * keys * key bytes in that time: what must be read and written at least
//   of copy   GB/s as a share of the rate of a device copy of the same size (of 1 GiB at least),
//             measured in the same run
//   x CUB     times as fast as the best of CUB's contenders, whatever version and counts they have
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "bench/request.hpp"

namespace gsort::bench {

struct Times {
  double median_ms = 0;
  double least_ms = 0;
  double most_ms = 0;

  // Requires: not empty.
  [[nodiscard]] static Times of(std::vector<double> all_ms);
};

enum class Verdict : std::uint8_t { kVerified, kWrong, kNothingToVerify };

// One contender's work. `keys` and `bytes` are those of this contender: a slow one may be given
// less of the same work, and is then compared by rate.
struct Result {
  std::string contender;
  Times times;
  std::uint64_t keys = 0;   // 0: only bytes are counted
  std::uint64_t bytes = 0;  // read and written at least
  Verdict verdict = Verdict::kNothingToVerify;
  std::string rival;  // see Contender
  std::string note;
};

struct Group {
  std::string title;  // "sort of 268,435,456 u32 keys, uniform"
  std::string type;
  std::string distribution;
  std::uint64_t elements = 0;
  std::string parameter;  // "d", "K": a further parameter of this group, and its value
  std::uint64_t parameter_value = 0;
};

class Report {
 public:
  // `device` is empty when there is none. Tables go to `out`, which must outlive the report.
  Report(const Request& request, std::string device, std::ostream& out);

  // Sets the bytes a second of a copy, read and written together, to which shares refer from now
  // on.
  void set_copy_rate(double bytes_per_second);
  [[nodiscard]] double copy_rate() const { return copy_rate_; }

  // A line for the reader, above what follows; kept in the JSON.
  void say(const std::string& line);

  // Prints the group as a table. Throws: Error(kUsage) when it has no results.
  void add(const Group& group, const std::vector<Result>& results);

  // Prints the last line, and writes the JSON file if one was asked for. Throws: Error(kOutput).
  void finish();

  [[nodiscard]] bool all_verified() const { return wrong_ == 0; }

 private:
  struct Entry {
    Group group;
    std::vector<Result> results;
    double copy_rate = 0;
  };

  [[nodiscard]] std::string json() const;

  const Request& request_;
  std::string device_;
  std::ostream& out_;
  double copy_rate_ = 0;
  int wrong_ = 0;
  int verified_ = 0;
  std::vector<std::string> lines_;
  std::vector<Entry> entries_;
};

}  // namespace gsort::bench
