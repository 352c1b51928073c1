#include "pipeline/share/join_parts.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/sys.hpp"

namespace gsort {
namespace {

using Records = std::map<std::uint32_t, PartRecord>;  // by part

// Those of `parts` parts, by job.
std::map<std::uint64_t, Records> records_beside(const io::OutputPlace& place, std::uint32_t parts) {
  std::map<std::uint64_t, Records> jobs;
  for (const std::string& name : io::names_with(place, record_prefix(place.name))) {
    const auto text = io::read_record(place, name);  // none: who joins them, too, removes it
    const auto record = text ? parse_part(*text) : std::nullopt;
    if (!record || record->parts != parts || record_name(place.name, *record) != name) continue;
    jobs[record->job].emplace(record->part, *record);
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

Records whole_job(const std::string& output, const io::OutputPlace& place, std::uint32_t parts) {
  const auto jobs = records_beside(place, parts);
  const Records* whole = nullptr;
  const Records* most = nullptr;
  for (const auto& [job, records] : jobs) {
    if (most == nullptr || records.size() > most->size()) most = &records;
    if (records.size() != parts) continue;
    if (whole != nullptr) {
      throw cannot_join(output, "there are parts of two jobs",
                        fmt::format("in {}, remove the {}* of the job that is not wanted, or all "
                                    "of them, and take the parts again",
                                    place.folder, record_prefix(place.name)));
    }
    whole = &records;
  }
  if (whole != nullptr) return *whole;
  if (most == nullptr) {
    throw cannot_join(output, fmt::format("0 of {} parts exist", parts),
                      "write them first: --take=I/P --from=DIR,... with the same -o");
  }
  throw cannot_join(output,
                    fmt::format("parts are missing: {} of {}", missing_parts(*most, parts), parts),
                    "run their --take again");
}

// Throws where the parts are not, together, all elements of all shares in order.
Fingerprint prove(const Records& records) {
  const PartRecord& any = records.begin()->second;
  Proof proof({{KeyType::kU8, false, false}, {}}, any.verified);
  proof.add_input_of_before(any.input);
  for (const auto& [part, record] : records) {
    if (record.input != any.input || record.elements != any.elements ||
        record.file_bytes != any.file_bytes) {
      throw Error(ErrorKind::kCorrupt, fmt::format("joining part {}", part),
                  "it was made from other shares than part 0")
          .hint("take all parts again");
    }
    ProofSummary summary;
    summary.enabled = record.verified;
    summary.output = record.output;
    if (record.begin < record.end) {
      summary.stretches[record.begin] = {record.end, record.first, record.last};
    }
    proof.add_share(summary);
  }
  proof.finish();
  return proof.output();
}

std::optional<struct stat> facts_of(const io::OutputPlace& place, const std::string& name) {
  struct stat facts = {};
  const std::string path = place.folder + "/" + name;
  const int result = io::sys::stat_at(AT_FDCWD, path.c_str(), &facts, AT_SYMLINK_NOFOLLOW);
  return result == 0 ? std::optional(facts) : std::nullopt;
}

// What a former call has left, if the file that has the output's name is the one that it put there.
std::optional<PartRecord> joined_before(const io::OutputPlace& place, std::uint32_t parts) {
  const auto text = io::read_record(place, joined_name(place.name));
  const auto record = text ? parse_part(*text) : std::nullopt;
  const auto output = facts_of(place, place.name);
  if (!record || record->parts != parts || !output) return std::nullopt;
  const bool is_it = S_ISREG(output->st_mode) && output->st_ino == record->file_number &&
                     static_cast<std::uint64_t>(output->st_size) == record->file_bytes;
  return is_it ? record : std::nullopt;
}

// The record was written after the last part.
bool is_written_since(const io::OutputPlace& place) {
  const auto changed = [](const struct stat& facts) {
    return std::pair(facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
  };
  const auto output = facts_of(place, place.name);
  const auto record = facts_of(place, joined_name(place.name));
  return !output || !record || changed(*output) > changed(*record);
}

// All of these are of this output, and of no use when it is there.
void remove_others(const io::OutputPlace& place) {
  for (const std::string& name : io::names_with(place, hidden_prefix(place.name))) {
    if (name != joined_name(place.name)) io::remove_beside(place, name);
  }
}

PartRecord join_now(const std::string& output, const io::OutputPlace& place, std::uint32_t parts) {
  const Records records = whole_job(output, place, parts);
  PartRecord joined = records.begin()->second;
  joined.part = 0;
  joined.begin = 0;
  joined.end = joined.elements;
  joined.first = joined.last = {};
  joined.output = prove(records);
  const std::string name = shared_name(place.name, joined.job);
  const io::SharedFile file(place, name, io::SharedFile::Access::kLook);
  if (!file.exists()) throw cannot_join(output, name + " is missing", "take all parts again");
  for (const auto& [part, record] : records) {
    if (record.file_number == file.number() && file.bytes() == record.file_bytes) continue;
    throw cannot_join(output, fmt::format("part {} was written to another file", part),
                      fmt::format("run --take={}/{} again", part, parts));
  }
  io::write_record(place, joined_name(place.name), encode_part(joined));
  if (!file.put_in_place()) throw cannot_join(output, name + " is missing", "take all parts again");
  return joined;
}

}  // namespace

bool is_joined(const io::OutputPlace& place, const PartRecord& part) {
  const auto joined = joined_before(place, part.parts);
  return joined && joined->job == part.job && joined->input == part.input &&
         !is_written_since(place);
}

JoinedParts join_parts(const std::string& output, std::uint32_t parts) {
  const io::OutputPlace place = io::place_of_output(output);
  std::optional<PartRecord> joined;
  try {
    joined = join_now(output, place, parts);
  } catch (const Error&) {  // another process may have joined them, now or before
    joined = joined_before(place, parts);
    if (!joined) throw;
  }
  remove_others(place);
  return {joined->elements, joined->file_bytes, joined->output, joined->verified};
}

}  // namespace gsort
