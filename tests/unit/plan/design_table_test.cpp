// The table of src/DESIGN.md that says which features work at which door: its column of the GPU.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/job.hpp"
#include "options/options.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

// How the program is called with each option of the table. A check makes no plan;
// tests/cli/doors.py runs one.
const std::multimap<std::string, std::string, std::less<>> kCalls = {
    {"--float-order", "-t f64 --float-order=total in"},
    {"--record", "--record=100 --key=0:bytes10 in"},
    {"--type", "-t bytes20 in"},
    {"--key", "--record=12 --key=8:u32r,0:u32 in"},
    {"--skip-end", "-t u64 --skip-end=8 in"},
    {"--elements", "-t u64 --elements=1000000000 in"},
    {"--unique", "-t u64 -u in"},
    {"--count", "-t u64 -u --count in"},
    {"--merge", "-t u64 -m in in"},
    {"--merge", "-t u64 -m --count --format=bin in in"},
    {"--intersect", "-t u64 -m --intersect in in"},
    {"--subtract", "-t u64 -m --subtract in in"},
    {"--top", "-t u64 --top=7 in"},
    {"--top", "--record=100 --key=0:bytes10 --top=7 in"},
    {"--argsort", "-t u64 --argsort in"},
    {"--shuffle", "-t u64 --shuffle=7 in"},
    {"--shuffle", "--record=100 --shuffle=7 in"},
    {"--batch-elements", "-t u64 --batch-elements=100 in"},
    {"--batch-elements", "--record=100 --key=0:bytes10 --batch-elements=100 in"},
    {"--resume", "-t u64 --resume=runs in"},
    {"--split-output", "-t u64 --split-output=2 in -o out-{}"},
};

bool is_on_gpu(const std::string& words) {
  std::istringstream stream("gsort -S 2G " + words);
  std::vector<std::string> split{std::istream_iterator<std::string>(stream), {}};
  std::vector<const char*> arguments;
  for (const std::string& word : split) arguments.push_back(word.c_str());
  const Options options = parse_options(static_cast<int>(arguments.size()), arguments.data(),
                                        [](const char*) { return nullptr; });
  Machine machine = test::invented_machine(64 * kGiB, 4, 64 * kGiB);
  test::add_gpu(machine);
  return make_plan(make_job(options, {}, machine.input_bytes), machine).engine == EngineKind::kCuda;
}

bool can_be_on_gpu(const std::string& words) {
  try {
    return is_on_gpu("--engine=cuda " + words);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--engine=cuda"), std::string::npos) << error.what();
    return false;
  }
}

// The cell for an option: by default, and with --engine=cuda.
std::string cell_of(const std::string& option) {
  const auto [first, last] = kCalls.equal_range(option);
  std::vector<bool> usual;
  std::vector<bool> asked;
  for (auto call = first; call != last; ++call) {
    usual.push_back(is_on_gpu(call->second));
    asked.push_back(can_be_on_gpu(call->second));
  }
  const auto all = [](const std::vector<bool>& of, bool value) {
    return std::ranges::count(of, value) == std::ssize(of);
  };
  if (all(usual, true)) return "yes";
  if (all(asked, false)) return "CPU";
  if (all(usual, false) && all(asked, true)) return "if asked";
  return usual == asked && usual.front() ? "keys" : "else";
}

TEST(DesignTable, SaysWhatRunsOnTheGpu) {
  std::ifstream page(GSORT_DESIGN_PAGE);
  std::size_t found = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("|`--")) continue;
    line.pop_back();
    const std::string cell = line.substr(line.rfind('|') + 1);
    for (std::size_t at = line.find("`--"); at != line.npos; at = line.find("`--", at + 1)) {
      const std::string option = line.substr(at + 1, line.find_first_of("`=", at + 1) - at - 1);
      ++found;
      EXPECT_EQ(cell, option == "--check" ? "CPU" : cell_of(option)) << option;
    }
  }
  EXPECT_GE(found, 18U) << GSORT_DESIGN_PAGE;
}

}  // namespace
}  // namespace gsort
