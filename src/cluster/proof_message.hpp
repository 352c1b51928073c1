// The proof of a process for its share, as a message.
#pragma once

#include "cluster/message.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort::cluster {

// With all places behind `begin` elements of other processes.
[[nodiscard]] ProofSummary moved(ProofSummary summary, std::uint64_t begin);

[[nodiscard]] Message to_message(const ProofSummary& summary);

// Throws: Error(kCorrupt) when it is none.
[[nodiscard]] ProofSummary to_summary(const Message& message);

}  // namespace gsort::cluster
