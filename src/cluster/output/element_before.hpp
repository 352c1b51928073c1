// The element in front of the range of a process, which with -u may repeat there.
#pragma once

#include <span>
#include <vector>

#include "cluster/cuts/cuts.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "element/element.hpp"
#include "io/runs/run_store.hpp"

namespace gsort::cluster {

// Together: the element in front of the first one of this process, in the order of all runs; empty
// where there is none. The cuts are those of this process's runs at all borders of `parts`;
// `scratch` has exchange_scratch_bytes(). Throws: Error from reading; as Team.
[[nodiscard]] std::vector<std::byte> element_before(Team& team, std::span<const io::Run> runs,
                                                    const PartTable& parts,
                                                    std::span<const Cuts> cuts,
                                                    const ElementFormat& format, ByteSpan scratch);

}  // namespace gsort::cluster
