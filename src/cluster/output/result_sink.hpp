// ResultSink: what stands between the merge of this process and its output. With -u, elements that
// repeat are dropped, also those that repeat the last element of the process before; what is left
// is proven.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/cuts/cuts.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/output/unique_record_sink.hpp"
#include "pipeline/output/unique_sink.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/run_view.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// The elements of this process: from `begin` on, behind the element `before`, which is empty where
// there is none. With -u, what is left of them stands from `place` on in the output.
struct ResultPlace {
  std::uint64_t begin = 0;
  ConstByteSpan before = {};
  std::uint64_t place = 0;
};

// Drops elements that repeat. Thread-safe. Takes positions as of the whole result; pieces must be
// started in their order. Proof and next sink outlive it.
class DistinctSink final : public PieceSink {
 public:
  DistinctSink(const Job& job, Proof& proof, PieceSink& next, const ResultPlace& place);

  void put(std::uint64_t position, ConstByteSpan elements) override {
    first_->put(position, elements);
  }
  void abandon() noexcept override { first_->abandon(); }

 private:
  OffsetSink placed_;
  std::optional<UniqueSink> unique_;
  std::optional<UniqueRecordSink> unique_records_;
  PieceSink* first_;
};

// Proves what it puts out; with job.unique behind a DistinctSink, whose rule for pieces then holds.
// Thread-safe.
class ResultSink final : public PieceSink {
 public:
  ResultSink(const Job& job, Proof& proof, PieceSink& output, const ResultPlace& place)
      : proving_(proof, output), first_(&proving_) {
    if (job.unique) first_ = &distinct_.emplace(job, proof, proving_, place);
  }

  void put(std::uint64_t position, ConstByteSpan elements) override {
    first_->put(position, elements);
  }
  void abandon() noexcept override { first_->abandon(); }

 private:
  ProvingSink proving_;
  std::optional<DistinctSink> distinct_;
  PieceSink* first_;
};

// Together: the element in front of the first one of this process, in the order of all runs; empty
// where there is none. The cuts are those of this process's runs at all borders of `parts`; scratch
// is as of exchange_scratch_bytes(). Throws: Error from reading; as Team.
[[nodiscard]] std::vector<std::byte> element_before(Team& team, RunViewSpan runs,
                                                    const PartTable& parts,
                                                    std::span<const Cuts> cuts,
                                                    const ElementFormat& format, ByteSpan scratch);

}  // namespace gsort::cluster
