#include "pipeline/share/join_parts.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/temporary_file.hpp"
#include "pipeline/share/part_file.hpp"

namespace gsort {
namespace {

using Records = std::map<std::uint32_t, PartRecord>;  // by part
using Jobs = std::map<std::uint64_t, Records>;

// Adds those of `parts` parts beside an output; of own files, those of part `own`.
void add_records_beside(const io::OutputPlace& place, std::uint32_t parts,
                        std::optional<std::uint32_t> own, Jobs& jobs) {
  for (const std::string& name : io::names_with(place, record_prefix(place.name))) {
    const auto record = read_part(place, name);  // none: another process that joins removes it
    if (!record || record->parts != parts || record_name(place.name, *record) != name) continue;
    if (record->has_own_file != own.has_value() || (own && record->part != *own)) continue;
    jobs[record->job].emplace(record->part, *record);
  }
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

// `place` is that of one of the outputs, for messages.
Records whole_job(const std::string& output, const io::OutputPlace& place, std::uint32_t parts,
                  const Jobs& jobs) {
  const Records* whole = nullptr;
  const Records* most = nullptr;
  for (const auto& [job, records] : jobs) {
    if (most == nullptr || records.size() > most->size()) most = &records;
    if (records.size() != parts) continue;
    if (whole != nullptr) {
      throw cannot_join(output, "there are parts of two jobs",
                        fmt::format("in {}, remove the files {}* of the job that you do not want; "
                                    "or remove them all and take the parts again",
                                    place.folder, record_prefix(place.name)));
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
Fingerprint prove(const Records& records) {
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
    if (record.begin != begin || record.end < begin) {
      throw wrong_part(part, "it does not begin where the part before it ends");
    }
    proof.add_share(summary_of(record, placed));
    begin = record.end;
    placed += record.output.count;
  }
  if (begin != any.elements) throw wrong_part(any.parts - 1, "it does not end where the shares do");
  proof.finish();
  return proof.output();
}

// Whether the file with the output's name is the one that was joined.
bool is_output(const io::OutputPlace& place, const PartRecord& joined) {
  const auto found = io::look_beside(place, place.name);
  if (!found || found->bytes != joined.file_bytes) return false;
  return found->hints == joined.hints || io::read_content(place, place.name) == joined.content;
}

// The record of an earlier call, if the output is the one that it committed.
std::optional<PartRecord> joined_before(const io::OutputPlace& place, std::uint32_t parts) {
  const auto record = read_part(place, joined_name(place.name));
  const bool is_it = record && record->parts == parts && is_output(place, *record);
  return is_it ? record : std::nullopt;
}

// Stores the hints of the output, which `joined` describes and this call has put in
// place. The record is written when the clock of the file system, which may tick seldom, shows a
// later time than the output's. So any later write to the output changes its
// hints.
void remember_output(const io::OutputPlace& place, PartRecord joined,
                     const io::FileHints& before_rename) {
  constexpr int kAttempts = 300;
  constexpr std::chrono::milliseconds kTick(10);  // two seconds for FAT
  const std::string name = joined_name(place.name);
  const auto output = io::look_beside(place, place.name);
  const bool is_it = output && output->hints.number == before_rename.number &&
                     output->hints.written_ns == before_rename.written_ns;
  for (int attempt = 0; is_it && attempt < kAttempts; ++attempt) {
    io::write_record(place, name, encode_part(joined));
    const auto record = io::look_beside(place, name);
    if (record && record->hints.changed_ns > output->hints.changed_ns) {
      joined.hints = output->hints;
      return io::write_record(place, name, encode_part(joined));
    }
    std::this_thread::sleep_for(kTick);
  }
}

// All of these are of this output, and of no use when it is there.
void remove_others(const io::OutputPlace& place) {
  for (const std::string& name : io::names_with(place, hidden_prefix(place.name))) {
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
void remove_other_numbers(const std::string& output) {
  constexpr std::string_view kNumber = "{}";
  const io::OutputPlace place = io::place_of(output);
  const std::size_t at = place.name.find(kNumber);
  if (at == place.name.npos) return;
  const std::string before = fmt::format(".{}", place.name.substr(0, at));
  const std::string_view tail = std::string_view(place.name).substr(at + kNumber.size());
  for (const std::string& name : io::names_with(place, before)) {
    const std::size_t end = name.find_first_not_of("0123456789", before.size());
    if (end == name.npos || end == before.size()) continue;
    const std::string output_name = fmt::format("{}{}", name.substr(1, end - 1), tail);
    if (!is_hidden_name(output_name, name)) continue;
    if (name.starts_with(own_prefix(output_name)) || is_record_of_own(place, name, output_name)) {
      io::remove_beside(place, name);
    }
  }
}

Error missing_file(const std::string& output, const std::string& name) {
  return cannot_join(output, name + " is missing", "run --take again for all parts");
}

// The process that named the output may have been killed before it synced the folder.
void sync_folder(const io::OutputPlace& place) {
  const io::Folder folder = io::open_folder(place.folder, ErrorKind::kOutput);
  if (!folder.readable) {  // names_with() could list it before
    throw Error::from_errno(ErrorKind::kOutput, "opening the folder", EACCES)
        .path(place.folder)
        .hint(io::hint_for(EACCES));
  }
  folder.file.sync();
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

// Throws if the input that the output replaces has changed. If another process puts the record's
// file in place meanwhile, the output is that file, and this is no error.
void require_replaced_unchanged(const io::OutputPlace& place, const PartRecord& record) {
  if (!record.replaced || !io::look_beside(place, place.name)) return;
  try {
    require_unchanged(place.folder + "/" + place.name, *record.replaced);
  } catch (const Error&) {
    if (has_file(place, record)) throw;
  }
}

// Whether a process that was killed, or another program, changed the file: it had been changed when
// a part was begun, and no other of the parts was being written then.
bool was_changed_between(const Records& records) {
  return std::ranges::any_of(records, [&](const auto& late) {
    const std::int64_t began = late.second.began_ns;
    return began != 0 && std::ranges::none_of(records, [&](const auto& other) {
             return other.first != late.first && other.second.began_ns <= began &&
                    began <= other.second.ended_ns;
           });
  });
}

// Throws if the file of these records, which `sum` describes, was changed after or between them,
// and its bytes are not those that were written. First removes the records, so that --take writes
// these parts again.
void require_as_written(const std::string& output, const io::OutputPlace& place,
                        const PartRecord& sum, const Records& records) {
  const std::string name = file_name(place.name, sum);
  const auto found = io::look_beside(place, name);
  if (!found) return;
  if (found->hints.changed_ns == sum.ended_ns && !was_changed_between(records)) return;
  const io::SharedFile file(place, name, io::SharedFile::Access::kLook);
  if (!file.exists() || file.content() == sum.content) return;
  for (const auto& [part, record] : records) {
    io::remove_beside(place, record_name(place.name, record));
  }
  throw cannot_join(output, fmt::format("{} was changed after --take wrote it", name),
                    "run --take again for all parts; it skips those that are complete");
}

// Throws unless all parts are in the same file.
void require_one_file(const std::string& output, const io::OutputPlace& place,
                      const Records& records) {
  const PartRecord& any = records.begin()->second;
  for (const auto& [part, record] : records) {
    if (record.mark == any.mark) continue;
    throw cannot_join(output, fmt::format("part {} was written to another file", part),
                      "run --take again for all parts; it skips those that are complete");
  }
  if (!has_file(place, any)) throw missing_file(output, file_name(place.name, any));
}

// Gives the record's file the output's name. Returns false if the file has lost its own name.
bool put_in_place(const io::OutputPlace& place, const PartRecord& record) {
  const std::string name = file_name(place.name, record);
  const io::SharedFile file(place, name, io::SharedFile::Access::kLook);
  const auto before = io::look_beside(place, name);
  if (!file.exists() || !before || before->bytes != record.file_bytes) return false;
  if (!file.put_in_place([&] { require_replaced_unchanged(place, record); })) return false;
  try {
    remember_output(place, record, before->hints);
  } catch (const Error&) {  // these are hints: without them the output is read again
  }
  return true;
}

PartRecord join_now(const std::string& output, const io::OutputPlace& place, std::uint32_t parts,
                    const Jobs& jobs) {
  const Records records = whole_job(output, place, parts, jobs);
  PartRecord joined = records.begin()->second;
  joined.output = prove(records);
  joined.content = {};
  for (const auto& [part, record] : records) {
    joined.content += record.content;
    joined.ended_ns = std::max(joined.ended_ns, record.ended_ns);
    if (record.replaced) joined.replaced = record.replaced;
  }
  require_one_file(output, place, records);
  require_as_written(output, place, joined, records);
  require_replaced_unchanged(place, joined);
  io::write_record(place, joined_name(place.name), encode_part(joined));
  if (!put_in_place(place, joined)) throw missing_file(output, file_name(place.name, joined));
  return joined;
}

constexpr const char* kMayBeLost = ", but may not survive a power cut";

void put_own_in_place(const std::string& output, const io::OutputPlace& place,
                      const PartRecord& record) {
  const auto before = io::read_record(place, joined_name(place.name));
  io::write_record(place, joined_name(place.name), encode_part(record));
  if (put_in_place(place, record)) return;
  if (is_joined(place, record)) return;  // another process was faster
  if (before) io::write_record(place, joined_name(place.name), *before);
  if (is_joined(place, record)) return;  // with another file
  throw cannot_join(output, fmt::format("part {} is missing", record.part),
                    fmt::format("run --take={}/{} again", record.part, record.parts));
}

// All that is wrong is found before the first file gets its name.
Records join_own_now(const std::string& outputs, const std::vector<io::OutputPlace>& places,
                     const Jobs& jobs) {
  const auto parts = static_cast<std::uint32_t>(places.size());
  Records records = whole_job(outputs, places.front(), parts, jobs);
  (void)prove(records);
  std::vector<std::uint32_t> hidden;
  for (const auto& [part, record] : records) {
    const io::OutputPlace& place = places[part];
    if (is_joined(place, record)) continue;
    if (has_file(place, record)) {
      require_as_written(outputs, place, record, {{part, record}});
      require_replaced_unchanged(place, record);
      hidden.push_back(part);
      continue;
    }
    if (is_joined(place, record)) continue;  // by now
    throw cannot_join(outputs, fmt::format("part {} is missing or was replaced", part),
                      fmt::format("run --take={}/{} again", part, parts));
  }
  for (const std::uint32_t part : hidden) put_own_in_place(outputs, places[part], records[part]);
  return records;
}

// Adds parts that an earlier join has put in place, to jobs in which others were taken again.
void add_joined(const std::vector<io::OutputPlace>& places, Jobs& jobs) {
  for (auto& [job, records] : jobs) {
    for (std::uint32_t part = 0; part < places.size(); ++part) {
      if (records.contains(part)) continue;
      const auto joined = joined_before(places[part], static_cast<std::uint32_t>(places.size()));
      if (!joined || joined->job != job || joined->part != part || !joined->has_own_file) continue;
      records.emplace(part, *joined);
    }
  }
}

// All of a job that was joined before, as its records say; none where one is missing, or there are
// parts of another job.
std::optional<Records> all_joined_before(const std::vector<io::OutputPlace>& places,
                                         const Jobs& jobs) {
  Records records;
  for (std::uint32_t part = 0; part < places.size(); ++part) {
    const auto joined = joined_before(places[part], static_cast<std::uint32_t>(places.size()));
    if (!joined || !joined->has_own_file || joined->part != part) return std::nullopt;
    records.emplace(part, *joined);
  }
  const std::uint64_t job = records.begin()->second.job;
  const auto is_other = [job](const auto& of) { return of.second.job != job; };
  if (std::ranges::any_of(records, is_other)) return std::nullopt;
  if (jobs.size() > (jobs.contains(job) ? 1U : 0U)) return std::nullopt;
  return records;
}

JoinedParts sum_of(const Records& records) {
  JoinedParts sum;
  for (const auto& [part, record] : records) {
    sum.elements += record.output.count;
    sum.bytes += record.file_bytes;
    sum.fingerprint += record.output;
    sum.verified = record.verified;
  }
  return sum;
}

}  // namespace

bool is_joined(const io::OutputPlace& place, const PartRecord& part) {
  const auto joined = read_part(place, joined_name(place.name));
  return joined && joined->job == part.job && joined->parts == part.parts &&
         joined->input == part.input && joined->has_own_file == part.has_own_file &&
         is_output(place, *joined);
}

void require_unchanged(const std::string& path, const io::FileState& read) {
  if (io::Input(path).state() == read) return;
  throw Error(ErrorKind::kInput, "replacing", "it has changed since --form read it")
      .path(path)
      .hint(
          "run --form again for all shares, in new folders, or give --take and --join another -o");
}

void forget_joined(const io::OutputPlace& place, std::optional<std::uint64_t> job) {
  const std::string name = joined_name(place.name);
  const auto text = io::read_record(place, name);
  if (!text) return;
  const auto joined = parse_part(*text);
  if (!joined || !job || joined->job != *job) io::remove_beside(place, name);
}

JoinedParts join_parts(const std::string& output, std::uint32_t parts) {
  const io::OutputPlace place = io::place_of_output(output);
  Jobs jobs;
  add_records_beside(place, parts, std::nullopt, jobs);
  std::optional<PartRecord> joined;
  try {
    joined = join_now(output, place, parts, jobs);
  } catch (const Error&) {  // another process may have joined them, now or before
    joined = joined_before(place, parts);
    if (!joined || joined->has_own_file) throw;
    if (jobs.size() > (jobs.contains(joined->job) ? 1U : 0U)) throw;
  }
  with_output_in_place(kMayBeLost, [&] { sync_folder(place); });
  with_output_in_place("", [&] { remove_others(place); });
  return {joined->elements, joined->file_bytes, joined->output, joined->verified};
}

JoinedParts join_own_parts(const std::string& output, const std::vector<std::string>& outputs) {
  const auto parts = static_cast<std::uint32_t>(outputs.size());
  std::vector<io::OutputPlace> places;
  Jobs jobs;
  for (std::uint32_t part = 0; part < parts; ++part) {
    places.push_back(io::place_of_output(outputs[part]));
    add_records_beside(places.back(), parts, part, jobs);
  }
  add_joined(places, jobs);
  std::optional<Records> joined;
  try {
    joined = join_own_now(output, places, jobs);
  } catch (const Error&) {  // as above
    joined = all_joined_before(places, jobs);
    if (!joined) throw;
  }
  with_output_in_place(kMayBeLost, [&] { std::ranges::for_each(places, sync_folder); });
  with_output_in_place("", [&] {
    std::ranges::for_each(places, remove_others);
    remove_other_numbers(output);
  });
  return sum_of(*joined);
}

}  // namespace gsort
