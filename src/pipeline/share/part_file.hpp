// The hidden file that all parts of a job share. It is made once, under a name with a random mark
// (part_record.hpp). All processes of a job must agree on one file, also if somebody has removed it
// and other files of the job are still there:
//
//   .NAME.gsort-mark-JOB          says the mark of the first file: M
//   .NAME.gsort-mark-JOB-M        says the mark of the file after that one: N; and so on
//
// The file of the job is the first one, in this order, that exists. Whoever finds none makes a file
// with a new mark, and then the record that says so, which only one process can make; the others
// use that file. So no file is ever taken for another one that was there before.
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
