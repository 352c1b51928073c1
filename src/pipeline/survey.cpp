#include "pipeline/survey.hpp"

#include <cerrno>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "io/system/host_facts.hpp"
#include "plan/budget.hpp"

namespace gsort {
namespace {

Folder look_at_folder(const std::string& path) {
  constexpr std::uint64_t kNoFileSystem = UINT64_MAX;
  const auto facts = io::folder_facts(path);
  if (!facts) return {path, kNoFileSystem, UINT64_MAX, "", errno};
  return {path, facts->file_system, facts->free_bytes, facts->memory_kind};
}

}  // namespace

unsigned cores_for(std::optional<unsigned> asked) {
  return asked ? *asked : io::host_facts().cores;
}

std::vector<CompressedInput> compressed_inputs(io::Reader& reader) {
  std::vector<CompressedInput> compressed;
  for (std::size_t input = 0; input < reader.inputs(); ++input) {
    const auto need = reader.decoder_need_of(input);
    if (need) compressed.push_back({reader.path_of(input), *need});
  }
  return compressed;
}

void survey_written_file(const std::string& path, Machine& machine) {
  const auto facts = path.empty() ? std::nullopt : io::file_facts(path);
  if (!facts) return;
  machine.written_into = Folder{path, facts->file_system, facts->free_bytes, facts->memory_kind};
  machine.written_into_bytes = facts->allocated_bytes;
}

Machine survey(const std::vector<std::string>& temporary, const std::string& output_folder,
               io::Reader& reader) {
  Machine machine = survey(temporary, output_folder);
  machine.input_bytes = reader.known_size();
  machine.input_is_cached = reader.is_cached();
  machine.compressed = compressed_inputs(reader);
  std::uint64_t name_bytes = 0;
  for (std::size_t input = 0; input < reader.inputs(); ++input) {
    name_bytes += reader.path_of(input).size();
  }
  machine.names_bytes = names_bytes(reader.inputs(), name_bytes);
  return machine;
}

Machine survey(const std::vector<std::string>& temporary, const std::string& output_folder) {
  Machine machine;
  // These first: another sort may end and remove the folder of --resume that --explain examines.
  for (const std::string& path : temporary) {
    machine.temporary.push_back(look_at_folder(path));
  }
  const io::HostFacts host = io::host_facts();
  machine.cores = host.cores;
  machine.memory_bytes = host.memory_bytes;
  machine.available_bytes = host.available_bytes;
  machine.no_gpu_reason = "no GPU was looked for";
  if (!output_folder.empty()) {
    machine.output = look_at_folder(output_folder);
    if (machine.output->problem != 0) {
      throw Error::from_errno(ErrorKind::kOutput, "opening the folder of the output",
                              machine.output->problem)
          .path(output_folder)
          .hint("write the output elsewhere, or check that its folder can be read");
    }
  }
  return machine;
}

}  // namespace gsort
