// OutputChain: the files of an output, begun for one job, and its Result before them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/meter.hpp"
#include "io/output/writer.hpp"
#include "pipeline/output/parts_sink.hpp"
#include "pipeline/output/result.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The header of the output if it is an array; otherwise empty.
[[nodiscard]] std::vector<std::byte> header_of_output(const Job& job, std::uint64_t elements);

// The writer's options for elements of this many bytes.
[[nodiscard]] io::WriterOptions writer_options(const Plan& plan, std::size_t result_bytes);

// `plan`, `outputs`, `proof` and `meter` (which may be null) outlive it.
class OutputChain {
 public:
  using Trailer = std::function<std::vector<std::byte>()>;

  // `outputs`: one output, or all parts of it. `trailer` returns the bytes behind the elements; the
  // chain calls it after the last put.
  OutputChain(const Plan& plan, std::span<io::Output> outputs, Proof& proof, Meter* meter,
              Trailer trailer = nullptr)
      : plan_(plan),
        outputs_(outputs),
        proof_(proof),
        meter_(meter),
        trailer_(plan.job.argsort ? nullptr : std::move(trailer)) {}

  // Begins the output; call it once. `elements` is the number of elements that will be put; none if
  // it is unknown but not 0. Returns the sink that takes them, from position `first` on. Throws:
  // Error(kResource); Error(kOutput).
  PieceSink& begin(std::optional<std::uint64_t> elements, ConstByteSpan header,
                   std::uint64_t first = 0);

  // The same for a caller that adds its elements to the proof: the sink drops and proves nothing.
  PieceSink& begin_unproven(std::optional<std::uint64_t> elements, ConstByteSpan header);

  [[nodiscard]] std::uint64_t lost_nan_payloads() const {
    return parts_ ? parts_->lost_nan_payloads() : 0;
  }

  // Call it when all elements have been put: puts those that are held back. Throws: as the sink.
  void end() {
    if (result_) result_->end();
  }

  // Commits the output. Requires: everything is written and proven. Calls `before_name` when all of
  // it is on the disk; if it throws, the old output stays. Throws: Error(kOutput); Error(kCorrupt).
  void commit(const std::function<void()>& before_name = {}) {
    parts_->commit(proof_.output().count, before_name);
  }

 private:
  // The bytes of an element of the output. The width of positions depends on their number.
  [[nodiscard]] std::size_t result_bytes(std::optional<std::uint64_t> elements) const;

  const Plan& plan_;
  std::span<io::Output> outputs_;
  Proof& proof_;
  Meter* meter_;
  Trailer trailer_;
  // Made when the output begins:
  std::optional<PartsSink> parts_;
  std::optional<Result> result_;
};

}  // namespace gsort
