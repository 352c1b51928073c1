#include "pipeline/share/part_state.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "pipeline/share/part_file.hpp"

namespace gsort {
namespace {

// Whether the output has the bytes that `joined` describes.
bool is_output(const io::OutputPlace& place, const PartRecord& joined) {
  const auto found = io::look_beside(place, place.name);
  if (!found || found->bytes != joined.file_bytes) return false;
  return found->hints == joined.hints || io::read_content(place, place.name) == joined.content;
}

// Adds the hints of the output to its record. `before_rename`: the hints of the file that became
// the output. Waits until the clock of the file system, which may tick seldom, shows a later time
// than the output's last change; so any later write to the output changes its hints.
void remember_output(const io::OutputPlace& place, PartRecord joined,
                     const io::FileHints& before_rename) {
  constexpr int kAttempts = 300;
  constexpr std::chrono::milliseconds kTick(10);  // the clock of FAT ticks every two seconds
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

// Whether a process that was killed, or another program, changed the file between the parts: the
// last change before a part was begun came at a time when no other part was being written.
bool was_changed_between(const std::vector<PartRecord>& parts) {
  return std::ranges::any_of(parts, [&](const PartRecord& late) {
    return late.began_ns != 0 && std::ranges::none_of(parts, [&](const PartRecord& other) {
             return other.part != late.part && other.began_ns <= late.began_ns &&
                    late.began_ns <= other.ended_ns;
           });
  });
}

// Whether the hidden file has other bytes than --take wrote. Reads them only if the file was
// changed after or between the parts.
bool is_changed(const PartsFile& file) {
  const std::string name = file_name(file.place.name, file.record);
  const auto found = io::look_beside(file.place, name);
  const bool is_last = found && found->hints.changed_ns == file.record.ended_ns;
  if (is_last && !was_changed_between(file.parts)) return false;
  // If another process has just renamed it, it does not exist.
  const io::SharedFile shared(file.place, name, io::SharedFile::Access::kLook);
  return shared.exists() && shared.content() != file.record.content;
}

// Gives the record's file the output's name. Returns false if the file has lost its own name.
bool rename_file(const io::OutputPlace& place, const PartRecord& record) {
  const std::string name = file_name(place.name, record);
  const io::SharedFile file(place, name, io::SharedFile::Access::kLook);
  const auto before = io::look_beside(place, name);
  if (!file.exists() || !before) return false;
  if (!file.put_in_place([&] { require_replaced_unchanged(place, record); })) return false;
  try {
    remember_output(place, record, before->hints);
  } catch (const Error&) {  // these are hints: without them the output is read again
  }
  return true;
}

}  // namespace

PartState state_of(const PartsFile& file) {
  using enum PartState;
  if (is_joined(file.place, file.record)) return kJoined;
  if (has_file(file.place, file.record)) return is_changed(file) ? kChanged : kHidden;
  return is_joined(file.place, file.record) ? kJoined : kMissing;  // joined between the two looks
}

bool put_in_place(const PartsFile& file) {
  io::write_record(file.place, joined_name(file.place.name), encode_part(file.record));
  // If the file is gone, another process was faster.
  return rename_file(file.place, file.record) || is_joined(file.place, file.record);
}

std::optional<PartRecord> find_joined(const io::OutputPlace& place,
                                      const std::function<bool(const PartRecord&)>& is_wanted) {
  const auto joined = read_part(place, joined_name(place.name));
  const bool is_it = joined && is_wanted(*joined) && is_output(place, *joined);
  return is_it ? joined : std::nullopt;
}

bool is_joined(const io::OutputPlace& place, const PartRecord& part) {
  const auto joined = find_joined(place, [&](const PartRecord& record) {
    return record.job == part.job && record.parts == part.parts && record.input == part.input &&
           record.has_own_file == part.has_own_file;
  });
  return joined.has_value();
}

void forget_joined(const io::OutputPlace& place, std::optional<std::uint64_t> job) {
  const std::string name = joined_name(place.name);
  const auto text = io::read_record(place, name);
  if (!text) return;
  const auto joined = parse_part(*text);
  if (!joined || !job || joined->job != *job) io::remove_beside(place, name);
}

void require_unchanged(const std::string& path, const io::FileState& read) {
  if (io::Input(path).state() == read) return;
  throw Error(ErrorKind::kInput, "replacing", "it has changed since --form read it")
      .path(path)
      .hint(
          "run --form again for all shares, in new folders, or give --take and --join another -o");
}

void require_replaced_unchanged(const io::OutputPlace& place, const PartRecord& record) {
  if (!record.replaced || !io::look_beside(place, place.name)) return;
  try {
    require_unchanged(place.path_of(place.name), *record.replaced);
  } catch (const Error&) {
    if (has_file(place, record)) throw;
  }
}

}  // namespace gsort
