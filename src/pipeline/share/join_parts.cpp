#include "pipeline/share/join_parts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/process.hpp"
#include "io/system/sys.hpp"
#include "pipeline/share/part_state.hpp"

namespace gsort {
namespace {

using Records = std::map<std::uint32_t, PartRecord>;  // by part
using Jobs = std::map<std::uint64_t, Records>;

// Outputs that are joined together.
struct Joining {
  const std::string& output;            // for messages
  std::vector<io::OutputPlace> places;  // one, or one for each part
  std::uint32_t parts;
  bool has_own_files;

  // Whether `record`, found beside output `number`, is of a part that this call joins.
  [[nodiscard]] bool is_of(const PartRecord& record, std::size_t number) const {
    return record.parts == parts && record.has_own_file == has_own_files &&
           (!has_own_files || record.part == number);
  }
};

// Reads the records of parts, by job. Beside an own file, only the record of its part counts.
Jobs jobs_beside(const Joining& joining) {
  Jobs jobs;
  std::uint32_t own = 0;
  for (const io::OutputPlace& place : joining.places) {
    for (const std::string& name : place.folder->names(record_prefix(place.name))) {
      const auto record = read_part(place, name);  // null: another --join has removed it
      if (!record || !joining.is_of(*record, own)) continue;
      if (record_name(place.name, *record) == name)
        jobs[record->job].emplace(record->part, *record);
    }
    ++own;
  }
  return jobs;
}

Error cannot_join(const std::string& output, const std::string& reason, const std::string& hint) {
  return Error(ErrorKind::kOutput, "joining the parts of", reason).path(output).hint(hint);
}

std::string missing_parts(const Records& records, std::uint32_t parts) {
  std::string numbers;
  for (std::uint32_t part = 0; part < parts && numbers.size() < 40; ++part) {
    if (!records.contains(part)) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", part);
  }
  return numbers;
}

Records whole_job(const Joining& joining, const Jobs& jobs) {
  const auto& [output, places, parts, has_own_files] = joining;
  const Records* whole = nullptr;
  const Records* most = nullptr;
  for (const auto& [job, records] : jobs) {
    if (most == nullptr || records.size() > most->size()) most = &records;
    if (records.size() != parts) continue;
    if (whole != nullptr) {
      throw cannot_join(output, "there are parts of two jobs",
                        fmt::format("in {}, remove the files {}* of the job that you do not want; "
                                    "or remove them all and take the parts again",
                                    places[0].folder_path(), record_prefix(places[0].name)));
    }
    whole = &records;
  }
  if (whole != nullptr) return *whole;
  if (most == nullptr) {
    throw cannot_join(output, fmt::format("0 of {} parts exist", parts),
                      "write them first: --take=I/P --from=DIR,... with the same -o");
  }
  throw cannot_join(
      output, fmt::format("parts are missing: {} of {}", missing_parts(*most, parts), parts),
      "run --take again for these parts, with the same --from and options as the other parts");
}

Error wrong_part(std::uint32_t part, const char* reason) {
  return Error(ErrorKind::kCorrupt, fmt::format("joining part {}", part), reason)
      .hint("run --take again for all parts");
}

// The proof of a part, with the place of its elements in the output.
ProofSummary summary_of(const PartRecord& record, std::uint64_t begin) {
  ProofSummary summary;
  summary.enabled = record.verified;
  summary.output = record.output;
  summary.repeats = record.repeats;
  const std::uint64_t end = begin + record.output.count;
  if (begin < end) summary.stretches[begin] = {end, record.first, record.last};
  return summary;
}

// Throws where the parts are not, together, all elements of all shares in order.
void prove(const Records& records) {
  const PartRecord& any = records.begin()->second;
  Proof proof({{KeyType::kU8, false, false}, {}}, any.verified, nullptr,
              any.is_distinct ? OrderKind::kStrict : OrderKind::kAscending);
  proof.add_input_of_before(any.input);
  std::uint64_t begin = 0;   // of the next part, of all elements
  std::uint64_t placed = 0;  // elements of the parts before
  for (const auto& [part, record] : records) {
    const bool same_file = any.has_own_file || record.file_bytes == any.file_bytes;
    if (record.input != any.input || record.elements != any.elements || !same_file ||
        record.is_distinct != any.is_distinct) {
      throw wrong_part(part, "it was made from other shares than part 0");
    }
    if (record.begin != begin) {
      throw wrong_part(part, "it does not begin where the part before it ends");
    }
    const std::uint64_t end = checked_sum(placed, record.output.count);
    proof.add_share(summary_of(record, placed));
    begin = record.end;
    placed = end;
  }
  if (begin != any.elements) throw wrong_part(any.parts - 1, "it does not end where the shares do");
  proof.finish();
}

// All of these are of this output, and of no use when it is there.
void remove_others(const io::OutputPlace& place) {
  for (const std::string& name : place.folder->names(hidden_prefix(place.name))) {
    if (name == joined_name(place.name) || !is_hidden_name(place.name, name)) continue;
    io::remove_beside(place, name);
  }
}

bool is_record_of_own(const io::OutputPlace& place, const std::string& name,
                      const std::string& output_name) {
  if (!name.starts_with(record_prefix(output_name))) return false;
  const auto record = read_part(place, name);
  return record && record->has_own_file;
}

// Removes hidden files of parts with other numbers, if there were more parts before.
// A file that other jobs share may have such a name, too, and stays with its records.
void remove_other_numbers(const Joining& joining) {
  constexpr std::string_view kNumber = "{}";
  const io::OutputPlace& place = joining.places.front();
  const std::string pattern = joining.output.substr(joining.output.rfind('/') + 1);
  const std::size_t at = pattern.find(kNumber);
  if (at == pattern.npos) return;
  const std::string before = fmt::format(".{}", pattern.substr(0, at));
  const std::string_view tail = std::string_view(pattern).substr(at + kNumber.size());
  for (const std::string& name : place.folder->names(before)) {
    const std::size_t end = name.find_first_not_of("0123456789", before.size());
    if (end == name.npos || end == before.size()) continue;
    const std::string output_name = fmt::format("{}{}", name.substr(1, end - 1), tail);
    if (!is_hidden_name(output_name, name)) continue;
    if (name.starts_with(own_prefix(output_name)) || is_record_of_own(place, name, output_name)) {
      io::remove_beside(place, name);
    }
  }
}

// Runs what is left to do when all outputs have their names. If it fails, the hint of the Error
// says that they are in place, and what of this is `not_sure`. The next call does all of it again.
template <class Work>
void with_output_in_place(const char* not_sure, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error(error).hint(
        fmt::format("the new output is in place{}; {}; then run the same --join again", not_sure,
                    error.hint()));
  }
}

// Returns the files of the parts. Throws if parts that share a file were written to different ones.
std::vector<PartsFile> files_of(const Joining& joining, const Records& records) {
  std::vector<PartsFile> files;
  for (const auto& [part, record] : records) {
    if (files.empty() || record.has_own_file) {
      files.push_back({joining.places[files.size()], record, {record}});
      continue;
    }
    PartRecord& sum = files.back().record;
    if (record.mark != sum.mark) {
      throw cannot_join(joining.output, fmt::format("part {} was written to another file", part),
                        "run --take again for all parts; it skips those that are complete");
    }
    sum.output += record.output;
    sum.content += record.content;
    sum.ended_ns = std::max(sum.ended_ns, record.ended_ns);
    files.back().parts.push_back(record);
  }
  return files;
}

Error missing_file(const std::string& output, const PartsFile& file) {
  const PartRecord& record = file.record;
  if (!record.has_own_file) {
    return cannot_join(output, file_name(file.place.name, record) + " is missing",
                       "run --take again for all parts");
  }
  return cannot_join(output, fmt::format("part {} is missing or was replaced", record.part),
                     fmt::format("run --take={}/{} again", record.part, record.parts));
}

// Removes the records first, so that --take writes these parts again.
Error changed_file(const std::string& output, const PartsFile& file) {
  const std::string& name = file.place.name;
  for (const PartRecord& part : file.parts) io::remove_beside(file.place, record_name(name, part));
  return cannot_join(
      output, fmt::format("{} was changed after --take wrote it", file_name(name, file.record)),
      "run --take again for all parts; it skips those that are complete");
}

// Joins the parts; returns the records of the files. Checks all files before one gets its name.
Records join_now(const Joining& joining, const Jobs& jobs) {
  const Records records = whole_job(joining, jobs);
  prove(records);
  const std::vector<PartsFile> files = files_of(joining, records);
  Records joined;
  std::vector<const PartsFile*> hidden;
  for (const PartsFile& file : files) {
    switch (state_of(file)) {
      case PartState::kMissing:
        throw missing_file(joining.output, file);
      case PartState::kChanged:
        throw changed_file(joining.output, file);
      case PartState::kHidden:
        io::require_writable(file.place);
        require_replaced_unchanged(file.place, file.record);
        hidden.push_back(&file);
        break;
      case PartState::kJoined:
        break;
    }
    joined.emplace(file.record.part, file.record);
  }
  for (const PartsFile* file : hidden) {
    if (!put_in_place(*file)) throw missing_file(joining.output, *file);
  }
  return joined;
}

// The record of output `number`, if a join of `job` has put it in place; nullopt: of any job.
std::optional<PartRecord> joined_before(const Joining& joining, std::size_t number,
                                        std::optional<std::uint64_t> job) {
  return find_joined(joining.places[number], [&](const PartRecord& record) {
    return joining.is_of(record, number) && record.job == job.value_or(record.job);
  });
}

// Adds own files that an earlier join put in place to jobs of which other parts were taken again.
void add_joined(const Joining& joining, Jobs& jobs) {
  for (auto& [job, records] : jobs) {
    for (std::uint32_t part = 0; joining.has_own_files && part < joining.parts; ++part) {
      if (records.contains(part)) continue;
      if (const auto joined = joined_before(joining, part, job)) records.emplace(part, *joined);
    }
  }
}

// The records of a job that was joined before; nullopt if an output is not in place, or if there
// are parts of another job.
std::optional<Records> all_joined_before(const Joining& joining, const Jobs& jobs) {
  if (jobs.size() > 1) return std::nullopt;
  Records records;
  auto job = jobs.empty() ? std::nullopt : std::optional(jobs.begin()->first);
  for (std::uint32_t number = 0; number < joining.places.size(); ++number) {
    const auto joined = joined_before(joining, number, job);
    if (!joined) return std::nullopt;
    job = joined->job;
    records.emplace(number, *joined);
  }
  return records;
}

Fingerprint join(const Joining& joining) {
  Jobs jobs = jobs_beside(joining);
  add_joined(joining, jobs);
  std::optional<Records> joined;
  try {
    joined = join_now(joining, jobs);
  } catch (const Error&) {  // another process may have joined them, now or before
    joined = all_joined_before(joining, jobs);
    if (!joined) throw;
  }
  // The process that named the output may have been killed before it synced the folder, which can
  // be synced: jobs_beside() has listed it.
  with_output_in_place(", but may not survive a power cut", [&] {
    for (const io::OutputPlace& place : joining.places) place.folder->file.sync();
  });
  with_output_in_place("", [&] {
    std::ranges::for_each(joining.places, remove_others);
    if (joining.has_own_files) remove_other_numbers(joining);
  });
  Fingerprint sum;
  for (const auto& [part, record] : *joined) sum += record.output;
  return sum;
}

}  // namespace

Fingerprint join_parts(const std::string& output, std::uint32_t parts) {
  return join({output, {io::place_of_output(output)}, parts, false});
}

Fingerprint join_own_parts(const std::string& output, const std::vector<std::string>& outputs) {
  Joining joining{output, {}, static_cast<std::uint32_t>(outputs.size()), true};
  (void)io::sys::open_file_limit(io::process_is_own());  // each folder stays open
  for (const std::string& path : outputs) {
    const auto* const beside = joining.places.empty() ? nullptr : &joining.places.back();
    joining.places.push_back(io::place_of_output(path, beside));
  }
  return join(joining);
}

}  // namespace gsort
