// Request: the options of a benchmark, as typed values. Missing options have the subcommand's own
// defaults. Read next: subcommands.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "element/key.hpp"
#include "gen/generate.hpp"

namespace gsort::bench {

// Where the contenders run.
enum class EngineChoice : std::uint8_t { kAuto, kCpu, kCuda };

struct Request {
  std::string subcommand;
  std::vector<KeyType> types;             // empty: the subcommand's
  std::vector<KeyType> values;            // of merge, batch: of pairs; empty: keys alone
  std::vector<std::uint64_t> elements;    // empty: the subcommand's
  std::vector<std::uint64_t> array_keys;  // of batch: keys of one array; empty: the subcommand's
  std::vector<Distribution> distributions = {Distribution::kUniform};
  EngineChoice engine = EngineChoice::kAuto;
  int repeat = 9;
  std::uint64_t seed = 0;  // of the first input set; random unless given
  unsigned threads = 1;
  std::string folder = ".";             // of ceilings: the folder of its files
  std::uint64_t file_bytes = 4 * kGiB;  // of ceilings: the size of each
  bool keeps_limits = false;            // of ceilings: for the reports of gsort
  std::string json_path;                // empty: no JSON
  std::string command_line;
};

// A request, or none if help was requested and has been printed. Throws: Error(kUsage) for unknown
// words and impossible values.
[[nodiscard]] std::optional<Request> parse_request(int argc, char** argv);

// "2^28", "16M" (powers of 1024) or "1000000". Throws: Error(kUsage).
[[nodiscard]] std::uint64_t parse_count(std::string_view text, std::string_view option);

}  // namespace gsort::bench
