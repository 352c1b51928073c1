// PartState: where the file of a part is, on its way from --take to --join. Each process looks
// at the disk; no state is kept in memory. Parts that share a file go through the states together.
//
//                  --take: its file, then its record       --join
//      kMissing ─────────────────────────────▶ kHidden ──────────────▶ kJoined
//         ▲                        any program │     ▲                    │
//         │                                    ▼     └─ any program ─┐    │
//         ├────── --join removes the records ─ kChanged ─────────────┘    │
//         └─────────── --take of another job begins; any program ─────────┘
//
// --join writes the record of the joined output, renames the file, then adds the output's hints to
// that record. If a process is killed, or two processes join the parts at the same time, the state
// is:
//
//   --take, before its record    kMissing; the next --take writes the part again
//   --join, before the rename    kHidden: the output is not the one that the record describes
//   --join, after it             kJoined; the record has no hints, so the output is read again
//   two --joins                  one rename fails; then kJoined
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/input/input.hpp"
#include "io/output/shared_file.hpp"
#include "pipeline/share/part_record.hpp"

namespace gsort {

enum class PartState : std::uint8_t {
  kMissing,  // none of the states below
  kHidden,   // the file with the record's mark exists, as --take wrote it
  kChanged,  // this file exists, with other bytes
  kJoined    // the output exists, as a join of the record's job made it
};

// A file that holds one part or all of them.
struct PartsFile {
  io::OutputPlace place;  // the place of its output
  PartRecord record;      // describes the whole file
  std::vector<PartRecord> parts;
};

// Compares mark, owner and checksum. Reads the file or the output only if it may have changed.
// Throws: Error(kOutput).
[[nodiscard]] PartState state_of(const PartsFile& file);

// Takes the file from kHidden to kJoined. Returns false if the file is gone and the output is
// another one. Throws: Error(kOutput); Error(kInput) as require_replaced_unchanged().
[[nodiscard]] bool put_in_place(const PartsFile& file);

// Returns the record of the joined output if `is_wanted` accepts it and the output has the joined
// bytes, else nullopt. Reads the output only if its hints differ from those in the record.
[[nodiscard]] std::optional<PartRecord> find_joined(
    const io::OutputPlace& place, const std::function<bool(const PartRecord&)>& is_wanted);

// Whether the output exists as a join of the job of `part` made it.
[[nodiscard]] bool is_joined(const io::OutputPlace& place, const PartRecord& part);

// Call this before a part is written. Removes the record of a joined output of another job than
// `job` (nullopt: of any job), so that no later join takes that output for complete.
void forget_joined(const io::OutputPlace& place, std::optional<std::uint64_t> job);

// Throws: Error(kInput) if the file, which an output will replace, has changed since --form read
// it: data appended since then would be lost.
void require_unchanged(const std::string& path, const io::FileState& read);

// The same for the input that the hidden file of `record` will replace. If another process puts the
// hidden file in place meanwhile, this does not throw.
void require_replaced_unchanged(const io::OutputPlace& place, const PartRecord& record);

}  // namespace gsort
