// The hidden file that all parts of a job share. It is made once, under a name with a random mark
// (part_record.hpp). All processes of a job must agree on one file, even if a user has removed it
// and other files of the job are still there:
//
//   .NAME.gsort-mark-JOB          holds the mark of the first file: M
//   .NAME.gsort-mark-JOB-M        holds the mark of the file after that one: N; and so on
//
// The file of the job is the first one, in this order, that exists. If none exists, a process makes
// a file with a new mark, then the record with this mark. Only one process can make that; the
// others use its file. So no file is ever taken for an earlier one.
#pragma once

#include <cstdint>
#include <optional>

#include "io/output/shared_file.hpp"
#include "pipeline/share/part_record.hpp"

namespace gsort {

// The mark of the file of the record's job, if there is one. Throws: Error(kOutput).
[[nodiscard]] std::optional<std::uint64_t> find_mark(const io::OutputPlace& place,
                                                     PartRecord record);

// The same; makes the file, with record.file_bytes, if there is none. Throws: Error(kOutput).
[[nodiscard]] std::uint64_t find_or_make_mark(const io::OutputPlace& place, PartRecord record);

// Whether the record's file exists, with the record's bytes. Throws: Error(kOutput).
[[nodiscard]] bool has_file(const io::OutputPlace& place, const PartRecord& record);

}  // namespace gsort
