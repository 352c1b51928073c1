// Joins the parts of an output: compares the proofs of the processes that wrote them, and gives the
// shared file its name or, if each part has its own file, gives all files their names. The states
// of these files are in part_state.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "element/fingerprint.hpp"

namespace gsort {

// Returns the fingerprint of the output. Afterwards the only hidden files beside the output are
// those that live processes write, and one record. By this record a second call, now or at the same
// time, finds the job complete, as long as the output has the bytes that were joined and no part of
// another job was begun. Throws: Error(kOutput) if parts are missing or do not belong together;
// Error(kCorrupt) if they do not hold all elements of the shares, or are not in order. Then the
// output is unchanged.
Fingerprint join_parts(const std::string& output, std::uint32_t parts);

// The same if each part has its own file: `outputs`, in the order of the parts; `output` is their
// name in messages. If a call is killed, some files may have got their names; the next call
// continues with the others.
Fingerprint join_own_parts(const std::string& output, const std::vector<std::string>& outputs);

}  // namespace gsort
