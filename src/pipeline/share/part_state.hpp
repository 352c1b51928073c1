// PartState: where the file of a part is, on its way from --take to --join. Each process asks the
// disk; no state is kept in memory. Parts that share a file go through the states together.
//
//                  --take: its file, then its record       --join
//      kMissing ─────────────────────────────▶ kHidden ──────────────▶ kJoined
//         ▲                        any program │     ▲                    │
//         │                                    ▼     └─ any program ─┐    │
//         ├────── --join removes the records ─ kChanged ─────────────┘    │
//         └─────────── --take of another job begins; any program ─────────┘
//
// --join writes the record of the joined output, renames the file, then adds the output's hints to
// that record. If a process is killed or another one joins the parts at the same time, this is
// left:
//
//   --take, before its record    kMissing; the next --take writes the part again
//   --join, before the rename    kHidden: the output is not the one that the record describes
//   --join, after it             kJoined; the record has no hints, so the output is read again
//   two --joins                  one rename fails, and the state is then kJoined
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
  kMissing,  // neither of these
  kHidden,   // the file with the record's mark is there, as --take wrote it
  kChanged,  // it is there, with other bytes
  kJoined    // the output is the one that a join has made of the record's job
};

// A file that holds one part or all of them.
struct PartsFile {
  io::OutputPlace place;  // of its output
  PartRecord record;      // describes all of it
  std::vector<PartRecord> parts;
};

// By mark, owner and checksum. The file or the output is read if its hints show a change. Throws:
// Error(kOutput).
[[nodiscard]] PartState state_of(const PartsFile& file);

// From kHidden to kJoined. Returns false if the file is gone and the output is another one. Throws:
// Error(kOutput); Error(kInput) as require_replaced_unchanged().
[[nodiscard]] bool put_in_place(const PartsFile& file);

// The record of the joined output, if it is wanted, and the output has the bytes that were joined.
// The output is read again if its hints show a change since, or another file.
[[nodiscard]] std::optional<PartRecord> find_joined(
    const io::OutputPlace& place, const std::function<bool(const PartRecord&)>& is_wanted);

// Whether the output is the one that a join has made of the job of `part`.
[[nodiscard]] bool is_joined(const io::OutputPlace& place, const PartRecord& part);

// Call this before a part is written: a later join must not find the output of another job than
// `job` complete. nullopt: the job is not known.
void forget_joined(const io::OutputPlace& place, std::optional<std::uint64_t> job);

// Throws: Error(kInput) if the file, which an output will replace, has changed since --form read
// it: data appended since then would be lost.
void require_unchanged(const std::string& path, const io::FileState& read);

// The same of the input that the output of a hidden file replaces. If another process puts this
// file in place meanwhile, the output is that file, and this is no error.
void require_replaced_unchanged(const io::OutputPlace& place, const PartRecord& record);

}  // namespace gsort
