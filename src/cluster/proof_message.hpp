// What a process has proven of its share, as a message.
#pragma once

#include "cluster/message.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort::cluster {

[[nodiscard]] Message to_message(const ProofSummary& summary);

// Throws: Error(kCorrupt) when it is none.
[[nodiscard]] ProofSummary to_summary(const Message& message);

}  // namespace gsort::cluster
