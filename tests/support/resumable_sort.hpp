// A sort that is interrupted where a test wants it, and continued, as by several processes one
// after the other: each has its own reader, plan, store and engine; only the files are common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/meter.hpp"
#include "options/options.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"
#include "support/engine_wrap.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort::test {

// The end of a process: while it writes that chunk, or merges into that run or the output, counted
// from 0.
struct Interruption {
  std::optional<unsigned> in_chunk;
  std::optional<unsigned> in_merge;
};

struct ProcessResult {
  Plan plan;
  Outcome outcome;
  std::optional<Error> error;  // none: it completed
};

class ResumableSort {
 public:
  // The files with these bytes, in the order of their names.
  explicit ResumableSort(const std::vector<Bytes>& inputs, KeyType type = KeyType::kU32);

  // The request of the next process; resume, inputs and output are set.
  Options options;
  std::string engine = "cpu";
  unsigned devices = 0;           // by the plan for this many; the engine is not the CPU's
  bool may_lose_devices = false;  // one that fails is left out, as with --engine=auto
  Meter* meter = nullptr;
  std::function<void()> before_reading;    // if there is one, called when the first read comes next
  std::function<void(Plan&)> change_plan;  // for sizes that no budget would give
  EngineHooks hooks;                       // in addition to those that end a process

  // One process. Throws: what planning and comparing throw.
  ProcessResult run(const Interruption& interruption = {});

  [[nodiscard]] Bytes output() const;
  [[nodiscard]] bool has_folder() const;
  [[nodiscard]] std::string folder() const { return *options.resume; }
  [[nodiscard]] std::string input(std::size_t number) const { return options.inputs[number]; }
  // The names of files other than inputs and output.
  [[nodiscard]] std::vector<std::string> others() const;

 private:
  io::test::TempFolder files_;
};

}  // namespace gsort::test
