// The elements that --top leaves out: the ends of this process's runs, which are not merged. They
// are read and proven here, so that they do not cross the network.
#pragma once

#include <span>

#include "base/bytes.hpp"
#include "base/meter.hpp"
#include "cluster/cuts/cuts.hpp"
#include "element/element.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort::cluster {

// Reads each run from its cut on, in a thread for each scratch of exchange_scratch_bytes(). If the
// proof is not enabled, reads nothing. Throws: Error from reading, or Error(kCorrupt).
void prove_left_out(std::span<const io::Run> runs, const Cuts& cuts, const ElementFormat& format,
                    std::span<const ByteSpan> scratch, Proof& proof, Meter* meter);

}  // namespace gsort::cluster
