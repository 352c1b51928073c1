#include "plan/disk_space.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/page.hpp"
#include "base/units.hpp"
#include "plan/budget.hpp"
#include "plan/decoding.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

constexpr auto kMostNeed = static_cast<double>(kMostFileBytes);  // no disk holds more

Error no_room(const std::string& what, std::uint64_t needed, std::uint64_t free_bytes,
              const char* way_out) {
  return Error(ErrorKind::kResource, what,
               fmt::format("{} are needed, {} are free", format_bytes(needed),
                           format_bytes(free_bytes)))
      .hint(way_out);
}

// The fraction that headers and padding add to the elements of full write buffers.
double padding_share(const RunPlan& run, std::uint64_t element_bytes) {
  constexpr double kBlockOverhead = 2 * 64;  // header, and padding to the next block
  constexpr double kBufferOverhead = kMemoryPageBytes;
  const auto block = static_cast<double>(run.block_elements * element_bytes);
  const double blocks = std::max(
      1.0, std::floor(static_cast<double>(run.write_buffer_bytes) / (block + kBlockOverhead)));
  return (blocks * kBlockOverhead + kBufferOverhead) / (blocks * block);
}

// The overhead of shorter blocks at the ends of pieces, and of headers and padding of blocks and
// write buffers.
double overhead_of(const Plan& plan) {
  return 1.02 + padding_share(plan.run, plan.element_bytes);
}

// The bytes that `elements` elements take in runs.
std::uint64_t padded_bytes(const Plan& plan, double elements) {
  return static_cast<std::uint64_t>(
      std::min(elements * static_cast<double>(plan.element_bytes) * overhead_of(plan), kMostNeed));
}

// The most write buffers that are not full when a run ends: each thread that puts its pieces may
// leave one, and one more for a piece that was overtaken.
std::uint64_t most_last_buffers(const Plan& plan) {
  const std::uint64_t all = plan.run.write_buffers;
  return plan.engine == EngineKind::kCuda
             ? std::min<std::uint64_t>(all, std::uint64_t{2} * CudaFootprint::kMostPuttersOfSeveral)
             : all;
}

bool output_is_in_memory(const Machine& machine) {
  return machine.output && machine.output->is_memory() && machine.output->free_bytes != UINT64_MAX;
}

// Runs are spread evenly over the folders.
std::uint64_t runs_in_memory(const Plan& plan, const Machine& machine) {
  const auto in_memory = std::ranges::count_if(machine.temporary, &Folder::is_memory);
  if (in_memory == 0) return 0;
  return plan.temporary_bytes / machine.temporary.size() * static_cast<std::uint64_t>(in_memory);
}

// The sort itself; less than -S if there is little to sort.
std::uint64_t sort_in_memory(const Plan& plan) {
  const WriteWindows& windows = plan.output.windows;
  const std::uint64_t buffers = plan.arena_bytes + plan.run.tier_bytes +
                                plan.run.write_buffers_bytes() + plan.output.encode.memory_bytes +
                                windows.count * windows.bytes + plan.names_bytes +
                                plan.decoding.bytes;
  return std::min(std::max(plan.host_budget_bytes, kLeastPromise), buffers + kLeastPromise);
}

}  // namespace

std::uint64_t temporary_need(const Plan& plan, const std::vector<std::uint64_t>& slices) {
  const std::uint64_t elements = totals_of_rounds(slices, plan.run.fan_in).most_at_once;
  if (elements == 0) return 0;
  return padded_bytes(plan, static_cast<double>(elements)) + kMiB;
}

std::uint64_t temporary_need(const Plan& plan) {
  if (plan.job.part_elements) {
    const std::uint64_t runs = std::max<std::uint64_t>(plan.run.count, 1);
    return temporary_need(plan, std::vector(runs, div_up(*plan.job.part_elements, runs)));
  }
  const bool merges_groups = plan.is<InputMergePlan>() && plan.run.count > 0;
  if (!plan.is<Spill>() && !merges_groups) return 0;
  // All runs are on disk once, except those that stay in memory; a round of merging needs the runs
  // of its largest group twice.
  std::uint64_t runs = plan.run.count;
  double share = 0;
  for (const MergeRound& round : plan.run.rounds) {
    const std::uint32_t largest = *std::ranges::max_element(round.group_sizes);
    share = std::max(share, static_cast<double>(largest) / static_cast<double>(runs));
    runs = round.group_sizes.size();
  }
  const auto all = static_cast<double>(plan.elements * plan.element_bytes);
  const auto there = static_cast<double>(plan.resumed.elements * plan.element_bytes);
  const auto most = static_cast<std::uint64_t>(
      std::min((all - there) * overhead_of(plan) + all * std::min(share, 1.0), kMostNeed));
  // Buffers are at least nine tenths full, except the last ones of each run.
  const std::uint64_t kept = (plan.device_run_bytes() + plan.run.kept_bytes()) / 10 * 9;
  const std::uint64_t last_ones =
      capped_product(plan.run.count, most_last_buffers(plan) * plan.run.write_buffer_bytes);
  const std::uint64_t stays = plan.run.rounds.empty() ? kept - std::min(kept, last_ones) : 0;
  return stays > most ? 0 : most - stays + kMiB;
}

std::uint64_t needed_beside_copy(const Plan& plan, const Machine& machine) {
  return plan.output.least_bytes - std::min(plan.output.least_bytes, machine.written_into_bytes);
}

// If several processes on this host write one output, each counts an equal part of it, because each
// has an equal part of the memory. With --parts, each process counts its own output.
std::uint64_t files_in_memory(const Plan& plan, const Machine& machine) {
  const unsigned writers = plan.job.output_parts > 1 ? 1 : machine.processes;
  const std::uint64_t output = output_is_in_memory(machine) ? plan.output.least_bytes / writers : 0;
  const bool is_copied = machine.written_into && machine.written_into->is_memory();
  const std::uint64_t copy = is_copied ? needed_beside_copy(plan, machine) : 0;
  return capped_sum(capped_sum(output, copy), runs_in_memory(plan, machine));
}

FoldersInMemory folders_in_memory(const Plan& plan, const Machine& machine) {
  FoldersInMemory all;
  const auto add_to = [](std::string& list, std::string_view word) {
    if (list.find(word) == std::string::npos) list.append(list.empty() ? "" : ", ").append(word);
  };
  const auto add = [&](const Folder& folder) {
    if (!folder.is_memory()) return;
    add_to(all.names, folder.path);
    add_to(all.kinds, folder.memory_kind);
  };
  if (runs_in_memory(plan, machine) > 0) std::ranges::for_each(machine.temporary, add);
  if (output_is_in_memory(machine)) add(*machine.output);
  if (machine.written_into) add(*machine.written_into);
  return all;
}

bool files_leave_memory(const Plan& plan, const Machine& machine) {
  const std::uint64_t files = files_in_memory(plan, machine);
  return files == 0 || capped_sum(files, sort_in_memory(plan)) <= machine.available_bytes;
}

Error no_memory_for_files(const Plan& plan, const Machine& machine, std::uint64_t smaller_mib) {
  const bool has_runs = runs_in_memory(plan, machine) > 0;
  const bool has_output =
      output_is_in_memory(machine) || (machine.written_into && machine.written_into->is_memory());
  const FoldersInMemory folders = folders_in_memory(plan, machine);
  const char* const options = !has_runs ? "-o" : has_output ? "-T and -o" : "-T";
  std::string way_out = fmt::format("name a folder on a disk with {}", options);
  if (smaller_mib > 0) way_out = fmt::format("use -S {}M, or {}", smaller_mib, way_out);
  return Error(
             ErrorKind::kResource,
             fmt::format("files in memory ({}) in {}", folders.kinds, folders.names),
             fmt::format("{} are needed beside {} for sorting, {} are available",
                         format_bytes(files_in_memory(plan, machine)),
                         format_bytes(sort_in_memory(plan)), format_bytes(machine.available_bytes)))
      .hint(way_out);
}

void require_disk_space(const Plan& plan, const Machine& machine) {
  std::map<std::uint64_t, std::uint64_t> free_bytes;  // by file system
  for (const Folder& folder : machine.temporary) free_bytes[folder.file_system] = folder.free_bytes;
  if (machine.output) {
    const std::uint64_t needed = plan.output.least_bytes;
    if (needed > machine.output->free_bytes) {
      throw no_room("the output in " + machine.output->path, needed, machine.output->free_bytes,
                    "free space there, or write the output elsewhere");
    }
    if (machine.written_into) {
      const Folder& file = *machine.written_into;
      const bool has_copy = file.file_system == machine.output->file_system;
      const std::uint64_t both = needed_beside_copy(plan, machine) + (has_copy ? needed : 0);
      if (both > file.free_bytes) {
        throw no_room("the output and its copy at " + file.path, both, file.free_bytes,
                      "free space there, or name a folder on another disk with -T");
      }
    }
    const auto shared = free_bytes.find(machine.output->file_system);
    if (shared != free_bytes.end()) shared->second -= std::min(shared->second, needed);
  }
  if (!files_leave_memory(plan, machine)) throw no_memory_for_files(plan, machine, 0);
  if (plan.temporary_bytes == 0) return;
  std::uint64_t total = 0;
  for (const auto& [file_system, bytes] : free_bytes) total = capped_sum(total, bytes);
  std::string names;
  for (const Folder& folder : machine.temporary) names += (names.empty() ? "" : ", ") + folder.path;
  if (plan.temporary_bytes > total) {
    throw no_room("temporary files in " + names, plan.temporary_bytes, total,
                  plan.job.resumable && !plan.job.part_elements
                      ? "name a folder with more room"
                      : "give a folder with more room with -T, or more memory with -S");
  }
}

// Around the page cache, a sort of 1 GiB with -S 128M took 1.1 to 1.9 times as long on two cores
// (tools/bench/results/tried.md): the disk must write and read every byte, and is slower if it does
// both at once.
bool runs_fit_page_cache(const Plan& plan, const Machine& machine) {
  constexpr std::uint64_t kShare = 4;  // the rest is left for inputs and other programs
  const std::uint64_t early = plan.output.makes_room_early ? plan.output.least_bytes : 0;
  const std::uint64_t taken = capped_sum(plan.host_budget_bytes, early);
  const std::uint64_t beside = machine.available_bytes - std::min(machine.available_bytes, taken);
  return !plan.job.resumable && plan.temporary_bytes > 0 && plan.temporary_bytes <= beside / kShare;
}

bool output_fits_memory(const Plan& plan, const Machine& machine) {
  constexpr unsigned kLeastThreads = 4;
  constexpr std::uint64_t kLeastBytes = 64 * kMiB;
  const bool is_sorted = plan.is<OneChunk>() || plan.is<Spill>();
  if (!machine.output || !machine.output->is_memory() || plan.output.needs_order || !is_sorted ||
      plan.job.handling.direct_io == DirectIo::kOn || plan.job.output_parts > 1 ||
      plan.job.part_elements || plan.threads < kLeastThreads ||
      plan.output.least_bytes < kLeastBytes) {
    return false;
  }
  std::uint64_t needed =
      capped_sum(plan.output.least_bytes, plan.arena_bytes + plan.run.tier_bytes);
  const bool runs_are_in_memory = std::ranges::any_of(machine.temporary, &Folder::is_memory);
  if (runs_are_in_memory) needed = capped_sum(needed, plan.temporary_bytes);
  // Another sort may begin at the same time. If memory is short later, a write that needs a page
  // fails with a message, but for early pages the kernel kills a process.
  return needed <= machine.available_bytes / 2;
}

}  // namespace gsort
