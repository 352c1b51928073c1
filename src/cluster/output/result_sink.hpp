// ResultSink: what stands between the merge of this process and its output. With -u, elements that
// repeat are dropped, also those that repeat the last element of the process before; what is left
// is proven.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/cuts.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "pipeline/output/unique_record_sink.hpp"
#include "pipeline/output/unique_sink.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/run_view.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// Thread-safe. Takes positions as of the whole result. With -u pieces must be started in their
// order, and `output` and `proof` get positions from 0 on. Both outlive it.
class ResultSink final : public PieceSink {
 public:
  // This process puts elements from `begin` on; `before` is the element in front of it, empty where
  // there is none.
  ResultSink(const Job& job, Proof& proof, PieceSink& output, std::uint64_t begin,
             ConstByteSpan before);

  void put(std::uint64_t position, ConstByteSpan elements) override {
    first_->put(position, elements);
  }
  void abandon() noexcept override { first_->abandon(); }

 private:
  ProvingSink proving_;
  std::optional<UniqueSink> unique_;
  std::optional<UniqueRecordSink> unique_records_;
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
