// Collects facts about the machine and the files, for the plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/input/reader.hpp"
#include "plan/machine.hpp"

namespace gsort {

// The number of cores to use: as requested, else all on which this process may run.
[[nodiscard]] unsigned cores_for(std::optional<unsigned> asked);

// The inputs that are compressed, and the streams that may be. Throws: as Reader's
// decoder_need_of().
[[nodiscard]] std::vector<CompressedInput> compressed_inputs(io::Reader& reader);

// `output_folder` is empty for a stream. Without a reader, there are no inputs yet. The caller
// looks for GPUs if it needs them. A temporary folder that does not exist has a `problem`. Throws:
// Error(kOutput); as compressed_inputs().
[[nodiscard]] Machine survey(const std::vector<std::string>& temporary,
                             const std::string& output_folder, io::Reader& reader);
[[nodiscard]] Machine survey(const std::vector<std::string>& temporary,
                             const std::string& output_folder);

// The same for the file that the output is written into at the end; empty path: there is none.
void survey_written_file(const std::string& path, Machine& machine);

}  // namespace gsort
