#include "pipeline/share/part_file.hpp"

#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/system/sys.hpp"

namespace gsort {
namespace {

std::string text_of_mark(std::uint64_t mark) {
  return fmt::format("{:016x}\n", mark);
}

std::optional<std::uint64_t> read_mark(const io::OutputPlace& place, const std::string& name) {
  const auto text = io::read_record(place, name);
  if (!text) return std::nullopt;
  constexpr int kHexadecimal = 16;
  std::uint64_t mark = 0;
  std::from_chars(text->data(), text->data() + text->size(), mark, kHexadecimal);
  return text_of_mark(mark) == *text ? std::optional(mark) : std::nullopt;
}

// The file of the job, if there is one. Otherwise `next` is the name of the record that would give
// the mark of a new one.
std::optional<std::uint64_t> find_mark(const io::OutputPlace& place, PartRecord& record,
                                       std::string& next) {
  constexpr int kMostFiles = 1000;  // a user may have made records that name each other
  next = mark_name(place.name, record, std::nullopt);
  for (int files = 0; files < kMostFiles; ++files) {
    const auto mark = read_mark(place, next);
    if (!mark) return std::nullopt;
    record.mark = *mark;
    if (has_file(place, record)) return mark;
    next = mark_name(place.name, record, mark);
  }
  return std::nullopt;
}

// Makes a file with this mark. Returns whether it is now the file of the job.
bool make_file(const io::OutputPlace& place, const PartRecord& record, const std::string& next) {
  const std::string name = file_name(place.name, record);
  const io::SharedFile file(place, name, io::SharedFile::Access::kMake);
  try {
    file.grow_to(record.file_bytes);
    if (io::write_new_record(place, next, text_of_mark(record.mark))) return true;
  } catch (const Error&) {
    io::remove_beside(place, name);
    throw;
  }
  io::remove_beside(place, name);
  return false;
}

}  // namespace

bool has_file(const io::OutputPlace& place, const PartRecord& record) {
  const io::SharedFile file(place, file_name(place.name, record), io::SharedFile::Access::kLook);
  return file.exists() && file.bytes() == record.file_bytes;
}

std::optional<std::uint64_t> find_mark(const io::OutputPlace& place, PartRecord record) {
  std::string next;
  return find_mark(place, record, next);
}

std::uint64_t find_or_make_mark(const io::OutputPlace& place, PartRecord record) {
  constexpr int kAttempts = 100;
  constexpr std::chrono::milliseconds kPause(50);  // a network file system may show old names
  std::string next;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 1) std::this_thread::sleep_for(kPause);
    if (const auto mark = find_mark(place, record, next)) return *mark;
    record.mark = io::sys::random_number();
    if (make_file(place, record, next)) return record.mark;
  }
  throw Error(ErrorKind::kOutput, "reading", "it is not a file that gsort made for this user")
      .path(place.path_of(next))
      .hint("remove it, or name another output");
}

}  // namespace gsort
