// Checks that the files of a job are different ones, under all their names: a job must not
// overwrite an input that it still has to read, runs to resume from, or its own result.
#pragma once

#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "options/job.hpp"
#include "options/request.hpp"

namespace gsort {

// Throws: Error(kUsage) when a FIFO or block device is an input and the output. With a FIFO, the
// sort would wait for itself. Requires: none of them is opened yet.
void refuse_streams_in_place(const FileNames& names);

// For an input that will be replaced by its own result. Throws: Error(kUsage) if it is a device or
// a pipe: reading a device may never end. Missing files and folders pass; opening them says more.
void require_replaceable(const std::string& input);

// Throws: Error(kUsage) when an input of a sort of each file in place has two names, or is given
// twice: its result would be sorted again, positions or counts as keys. Hard links are two files
// once one of them is replaced.
void refuse_files_given_twice(const FileNames& names);

// For --each with a folder for the results. Throws: Error(kUsage) when links in the folder lead the
// result of an input to another input, which may have to be read later, or to the result of another
// input. Hard links count only if results are written into existing files.
void refuse_results_over_others(const Request& request);

// Throws: Error(kUsage) when the output or an input is a file of the folder of --resume, which is
// removed in the end; if the output would replace an input by other elements (below); or, with
// --resume, if it would replace one of several inputs, the input of --shuffle, or the
// input of --elements with fewer elements: a repeated command may not see that its result is
// complete, and would make another result from it. Call this before the reader has read anything.
void refuse_losing_inputs(const Request& request, const Job& job, io::Reader& reader);

// The same when the output is known. Throws: Error(kUsage) if it would be written into an input,
// as in `gsort FILE >> FILE`; or if it would replace an input that is sorted by an assumed type.
// Inputs without elements cannot be lost.
void refuse_losing_inputs(const Request& request, const Job& job, const io::Output& output,
                          const io::Reader& reader);

// Throws: Error(kUsage) if the plan that --explain prints is written into an input, as in
// `gsort --explain FILE >> FILE`.
void refuse_explaining_into_inputs(const FileNames& names, const io::Reader& reader);

// An input that is also the output.
struct InputToReplace {
  std::string path;  // for messages
  FileFormat format = FileFormat::kBinary;
  Codec codec = Codec::kNone;
  bool of_each = false;          // -o names a folder
  bool format_is_given = false;  // by --format
};

// Throws: Error(kUsage) if the job's output does not have the elements of the input, or not in its
// format and codec: positions, or keys with their counts. An output that only leaves elements out
// may replace it.
void refuse_replacing_by_other_elements(const InputToReplace& input, const Job& job);

// Throws: Error(kUsage) if an output or a report is the file `list`, which names the inputs.
void refuse_writing_the_list(const Request& request, const std::string& list);

// Throws: Error(kUsage) if messages would be among the elements, as in `gsort -v FILE > OUT 2>&1`:
// standard error is the output, and `note` is not empty or -v or --progress asks for messages.
void refuse_messages_in_output(const Request& request, std::string_view note);

// Throws: Error(kUsage) when a report is the output, an input, a file of the folder of --resume, or
// the other report.
void refuse_shared_reports(const Request& request);

}  // namespace gsort
