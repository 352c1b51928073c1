// What stands between the engine and the output, put together for one job: keys that repeat are
// dropped (-u) or counted (--count), what lies behind the first N is dropped (--top), what is left
// is proven, and written in the form of the output, of --argsort the positions alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/meter.hpp"
#include "io/output/writer.hpp"
#include "pipeline/output/count_sink.hpp"
#include "pipeline/output/index_sink.hpp"
#include "pipeline/output/limit_sink.hpp"
#include "pipeline/output/parts_sink.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/output/unique_record_sink.hpp"
#include "pipeline/output/unique_sink.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"

namespace gsort {

// How elements of so many bytes are written.
[[nodiscard]] io::WriterOptions writer_options(const Plan& plan, std::size_t result_bytes);

// `outputs`, `proof` and `meter` (which may be null) outlive it.
class OutputChain {
 public:
  // `outputs` are one, or all parts of it.
  OutputChain(const Plan& plan, std::span<io::Output> outputs, Proof& proof, Meter* meter);

  // To be called once, with the elements that will be put, or none if there are some: the sink
  // that takes them.
  // Throws: Error(kResource); Error(kOutput).
  PieceSink& begin(std::optional<std::uint64_t> elements, ConstByteSpan header);

  // The same for who proves what it puts: nothing is dropped or proven here.
  PieceSink& begin_unproven(std::optional<std::uint64_t> elements, ConstByteSpan header);

  [[nodiscard]] std::uint64_t lost_nan_payloads() const { return parts_->lost_nan_payloads(); }

  // All has been put: puts what was held back until then. Throws: as the sink.
  void end();

  // Everything is written and proven: commits the output. `before_name` is called when all of it is
  // on the disk; if it throws, the old output stays. Throws: Error(kOutput); Error(kCorrupt).
  void commit(const std::function<void()>& before_name = {}) {
    parts_->commit(proof_.output().count, before_name);
  }

 private:
  void build(std::optional<std::uint64_t> elements);

  const Plan& plan_;
  std::span<io::Output> outputs_;
  Proof& proof_;
  Meter* meter_;
  // Made by begin():
  std::optional<PartsSink> parts_;
  std::optional<IndexSink> index_sink_;
  std::optional<ProvingSink> proving_sink_;
  std::optional<LimitSink> limit_sink_;
  std::optional<UniqueSink> unique_sink_;
  std::optional<UniqueRecordSink> unique_record_sink_;
  std::optional<CountSink> count_sink_;
  PieceSink* first_ = nullptr;
};

}  // namespace gsort
