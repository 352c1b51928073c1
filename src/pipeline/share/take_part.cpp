#include "pipeline/share/take_part.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/checked.hpp"
#include "base/device_error.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "io/output/shared_file.hpp"
#include "io/runs/run_store.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "io/system/space.hpp"
#include "pipeline/merge_runs.hpp"
#include "pipeline/output/output_chain.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/share/part_file.hpp"
#include "pipeline/share/part_output.hpp"
#include "pipeline/share/part_record.hpp"
#include "pipeline/share/part_runs.hpp"
#include "pipeline/share/part_state.hpp"
#include "pipeline/share/share_range.hpp"
#include "pipeline/sort_job.hpp"
#include "pipeline/survey.hpp"
#include "plan/disk_space.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

std::vector<std::byte> header_of_part(const PartRecord& part, const Job& job,
                                      const FormedShares& shares) {
  if (part.has_own_file) return {};  // the writer makes that of the part
  return header_of_output(job, shares.elements());
}

// `is_on_network`: two hosts must not write to one page of the output.
std::uint64_t number_of_job(const FormedShares& shares, const PartRecord& part, const Job& job,
                            std::uint64_t header_bytes, bool is_on_network) {
  std::string text = fmt::format("{} {} {} {}", shares.number(), part.parts,
                                 name_of(job.output_form.format), header_bytes);
  if (part.has_own_file) {
    text += fmt::format(" own {} {} {} {}", name_of(job.output_form.codec), job.is_distinct(),
                        job.count, job.min_count.value_or(1));
  } else if (is_on_network &&
             are_short_parts(shares.elements(), part.parts, job.input_element().bytes())) {
    text += " at pages";  // a process that does not see the file by network has other borders
  }
  return XXH3_64bits(text.data(), text.size());
}

OutputRange range_of_part(const PartRecord& part, const FormedShares& shares, const Job& job,
                          std::uint64_t header_bytes, bool is_on_network) {
  if (part.has_own_file) return share_of(shares.elements(), part.part, part.parts);
  const std::uint64_t element_bytes = job.input_element().bytes();
  const auto border = [&](std::uint64_t number) {
    if (!is_on_network) {
      return part_border(shares.elements(), number, part.parts, element_bytes, header_bytes);
    }
    const auto at_page =
        part_border_on_network(shares.elements(), number, part.parts, element_bytes, header_bytes);
    if (at_page) return *at_page;
    throw Error(ErrorKind::kUsage, "writing parts of one file on a network file system",
                fmt::format("behind a header of {}, no element of {} begins at a page",
                            format_bytes(header_bytes), format_bytes(element_bytes)))
        .hint("put {} into the name of -o: each part gets a file of its own");
  };
  return {border(part.part), border(std::uint64_t{part.part} + 1)};
}

// The bytes of the whole output that are written. If the file system compresses a file, fewer bytes
// are allocated than its complete parts have.
std::uint64_t bytes_written(const io::OutputPlace& place, PartRecord record) {
  const auto mark = find_mark(place, record);
  if (!mark) return 0;
  record.mark = *mark;
  const io::SharedFile file(place, file_name(place.name, record), io::SharedFile::Access::kLook);
  if (!file.exists()) return 0;
  std::uint64_t parts = 0;
  for (std::uint32_t part = 0; part < record.parts; ++part) {
    PartRecord other = record;
    other.part = part;
    const auto found = read_part(place, record_name(place.name, other));
    if (found && found->mark == *mark) ++parts;
  }
  const std::uint64_t in_parts = record.file_bytes / record.parts * parts;
  return std::min(record.file_bytes, std::max(file.allocated_bytes(), in_parts));
}

// If the runs of a share are damaged, only --form can make them again.
Error told_of_share(const Error& error, FormedShares& shares) {
  const bool is_damage = error.error_number() == 0;
  for (const io::ResumeFolder& folder : shares.folders()) {
    if (!is_damage || error.path() != folder.path()) continue;
    return Error(error).hint(
        "the file was changed or the disk is faulty; check the disk, and run --form again for this "
        "share, in a new folder");
  }
  return error;
}

// Throws unless there is room for all parts that are not written yet, or for the part's own file;
// and for `temporary_bytes` of temporary runs.
void require_room(const Plan& plan, const io::OutputPlace& place, const PartRecord& record,
                  std::uint64_t temporary_bytes) {
  Plan counted = plan;
  counted.temporary_bytes = temporary_bytes;
  const std::string& folder = place.folder_path();
  std::vector<io::SpaceNeed> needs;
  if (!record.has_own_file) counted.output.least_bytes = bytes_to_write(place, record);
  needs.push_back({std::span(&folder, 1), counted.output.least_bytes,
                   record.has_own_file ? "the part" : "the parts that are not written yet"});
  if (temporary_bytes > 0) {
    needs.push_back({plan.temporary_folders, temporary_bytes, "temporary runs"});
  }
  io::require_space(needs);
  const Machine machine = survey(plan.temporary_folders, folder);
  if (!files_leave_memory(counted, machine)) throw no_memory_for_files(counted, machine, 0);
}

// Takes the results of the part's proof. Throws: Error(kCorrupt) if elements are missing.
void take_proof(const Proof& proof, PartRecord& record) {
  const ProofSummary summary = proof.summary();
  record.output = summary.output;
  record.repeats = summary.repeats;
  // In an own file, elements begin at 0.
  const std::uint64_t begin = record.has_own_file ? 0 : record.begin;
  const std::uint64_t end = begin + record.output.count;
  const auto& stretches = summary.stretches;
  const bool is_one_stretch = stretches.size() == 1 && stretches.begin()->first == begin &&
                              stretches.begin()->second.end == end;
  const bool is_all = record.output.count + record.repeats.count == record.end - record.begin &&
                      (record.is_distinct || record.repeats.count == 0);
  if (!is_all || !(is_one_stretch || (begin == end && stretches.empty()))) {
    throw Error(ErrorKind::kCorrupt, fmt::format("verifying part {}", record.part),
                "elements of it are missing")
        .hint("run this --take again; if it fails again, form the shares again");
  }
  if (begin == end) return;
  record.first = stretches.begin()->second.first;
  record.last = stretches.begin()->second.last;
}

// All hidden files beside the output have longer names than the output.
void require_short_name(const io::OutputPlace& place, const PartRecord& record) {
  constexpr std::size_t kMostBytes = 255;
  const std::size_t longest =
      std::max(record_name(place.name, record).size(), file_name(place.name, record).size());
  if (longest <= kMostBytes) return;
  throw Error(ErrorKind::kUsage, "taking a part of", "the output's name is too long")
      .path(place.path)
      .hint(
          fmt::format("give a name of at most {} bytes", place.name.size() + kMostBytes - longest));
}

// The part that another process has left, with its file.
std::optional<PartRecord> part_left(const io::OutputPlace& place, const PartRecord& wanted) {
  const auto found = read_part(place, record_name(place.name, wanted));
  const bool is_it = found && found->job == wanted.job && found->part == wanted.part &&
                     found->parts == wanted.parts && found->input == wanted.input &&
                     has_file(place, *found);
  return is_it ? found : std::nullopt;
}

// The record is written before the check. So either this process sees that the parts are joined, or
// the process that joins them sees the record.
void leave_record(const io::OutputPlace& place, const PartRecord& record) {
  io::write_record(place, record_name(place.name, record), encode_part(record));
  if (!is_joined(place, record)) return;
  io::remove_beside(place, record_name(place.name, record));
  for (const std::string& prefix :
       {file_prefix(place.name, record), mark_prefix(place.name, record)}) {
    for (const std::string& name : place.folder->names(prefix)) {
      if (is_hidden_name(place.name, name)) io::remove_beside(place, name);
    }
  }
}

// The elements of all shares' runs that make the part, whose borders move where no key may be in
// two parts. A part of distinct elements begins where the one before it ends, even if the part is
// empty.
std::vector<RunSlice> cut_part(const Plan& plan, FormedShares& shares, KeptStores& stores,
                               PartRecord& record) {
  const bool may_move = plan.job.is_distinct() && record.elements > 0;
  if (record.begin == record.end && !may_move) return {};
  OutputRange part{record.begin, record.end};
  std::vector<io::Run> runs = shares.open_runs(plan, stores);
  std::vector<RunSlice> slices =
      slices_of_part(plan, std::move(runs), stores.largest()->scratch_bytes(), part);
  record.begin = part.begin;
  record.end = part.end;
  return slices;
}

// Merges the slices, whose runs are in `stores`, into a sink. If memory has no room for all of them
// at once, some become temporary runs.
void merge_cut_part(SortContext context, const KeptStores& stores, std::vector<RunSlice> slices,
                    std::uint64_t first, PieceSink& sink, Outcome& outcome) {
  const io::Arena arena(context.plan.arena_bytes, "merging");
  const auto engine = start_engine(context, arena.bytes());
  std::optional<io::RunStore> merged;
  context.store = [&]() -> io::RunStore& { return merged ? *merged : *stores.largest(); };
  if (slices.size() > context.plan.run.fan_in) make_run_store(context, merged, outcome.notes);
  outcome.runs = slices.size();
  merge_slices(context, std::move(slices), first, sink);
  if (merged) {
    take_run_totals(*merged, outcome);
    outcome.add_notes(merged->notes());
  }
}

// The number of elements that are moved to merge `elements`: each goes into the output, some first
// into longer runs.
std::uint64_t elements_to_move(const Plan& plan, std::uint64_t elements) {
  const std::uint64_t runs = std::max<std::uint64_t>(plan.run.count, 1);
  const std::vector<std::uint64_t> slices(runs, elements / runs);
  return totals_of_rounds(slices, plan.run.fan_in).merged + elements;
}

Outcome attempt_part(const SortContext& context, const io::OutputPlace& place, PartRecord record,
                     FormedShares& shares) {
  const Plan& plan = context.plan;
  Meter& meter = *context.meter;
  const std::uint64_t to_move = elements_to_move(plan, record.end - record.begin);
  meter.begin_phase(Phase::kMerge, to_move * plan.element_bytes, 0);
  KeptStores stores;
  std::vector<RunSlice> slices = cut_part(plan, shares, stores, record);
  std::vector<std::uint64_t> sizes;
  for (const RunSlice& slice : slices) sizes.push_back(slice.end - slice.begin);
  require_room(plan, place, record, temporary_need(plan, sizes));
  const std::vector<std::byte> header = header_of_part(record, plan.job, shares);
  const auto part = make_part_output(place, record, plan, header, meter);
  Outcome outcome;
  Proof proof = proof_of(plan.job, &meter);
  PieceSink& sink = part->begin(record, proof);
  if (!slices.empty()) {
    merge_cut_part(context, stores, std::move(slices), record.begin, sink, outcome);
  }
  outcome.loaded_bytes += stores.bytes_read();
  part->end();
  take_proof(proof, record);
  meter.begin_phase(Phase::kSync, 0, 0);
  // If another process has completed an own file of this part, that file is enough.
  if (!record.has_own_file || !(is_joined(place, record) || part_left(place, record))) {
    part->finish(record, outcome);
    io::require_unmoved(place);  // --join looks where the path leads
    leave_record(place, record);
  }
  outcome.elements = record.end - record.begin;
  outcome.output_elements = record.output.count;
  outcome.bytes = outcome.elements * plan.job.input_bytes();
  outcome.verified = proof.enabled();
  outcome.fingerprint = record.output;
  outcome.fingerprint += record.repeats;
  return outcome;
}

}  // namespace

PartRecord planned_part(PartRecord part, const io::OutputPlace& place, const FormedShares& shares,
                        const Job& job) {
  const auto facts = io::facts_of(place.folder->file);
  const bool is_on_network = facts && facts->is_network;
  const std::uint64_t header_bytes = header_of_part(part, job, shares).size();
  part.job = number_of_job(shares, part, job, header_bytes, is_on_network);
  part.elements = shares.elements();
  part.file_bytes =
      checked_sum(header_bytes, checked_product(shares.elements(), job.input_element().bytes()));
  part.verified = job.handling.verify;
  part.is_distinct = job.is_distinct();
  part.input = shares.input();
  const OutputRange range = range_of_part(part, shares, job, header_bytes, is_on_network);
  part.begin = range.begin;
  part.end = range.end;
  return part;
}

std::uint64_t bytes_to_write(const io::OutputPlace& place, const PartRecord& record) {
  return record.has_own_file ? 0 : record.file_bytes - bytes_written(place, record);
}

std::optional<PartRecord> find_taken(const io::OutputPlace& place, const PartRecord& planned) {
  require_short_name(place, planned);
  if (is_joined(place, planned)) return planned;
  if (const auto left = part_left(place, planned)) return left;
  if (is_joined(place, planned)) return planned;  // by now
  forget_joined(place, planned.job);
  return std::nullopt;
}

Outcome take_part(const SortContext& door, const io::OutputPlace& place, const PartRecord& planned,
                  FormedShares& shares) try {
  return run_attempts(door, {}, [&](const SortContext& context) {
    return attempt_part(context, place, planned, shares);
  });
} catch (const DeviceError&) {
  throw;
} catch (const Error& error) {
  throw told_of_share(error, shares);
}

}  // namespace gsort
