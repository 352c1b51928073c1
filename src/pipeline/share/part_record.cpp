#include "pipeline/share/part_record.hpp"

#include <charconv>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

namespace gsort {
namespace {

constexpr std::string_view kMagic = "gsort-part";
constexpr int kHexadecimal = 16;

std::string digits_of(const std::string& key) {
  std::string digits = ".";
  for (const char byte : key) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string key_of(std::string_view digits) {
  std::string key;
  for (std::size_t at = 1; at + 2 <= digits.size(); at += 2) {
    unsigned byte = 0;
    std::from_chars(digits.data() + at, digits.data() + at + 2, byte, kHexadecimal);
    key += static_cast<char>(byte);
  }
  return key;
}

std::string text_of(const Fingerprint& fingerprint) {
  return fmt::format("{} {} {}", fingerprint.count, fingerprint.first, fingerprint.second);
}

}  // namespace

std::string encode_part(const PartRecord& record) {
  std::string text =
      fmt::format("{} 2 {} {} {} {} {} {} {:d} {:d} {:d} {} {} {} {} {} {} {} ", kMagic, record.job,
                  record.part, record.parts, record.elements, record.file_bytes, record.file_number,
                  record.verified, record.has_own_file, record.is_distinct, text_of(record.input),
                  text_of(record.output), text_of(record.repeats), record.begin, record.end,
                  digits_of(record.first), digits_of(record.last));
  return text + fmt::format("{}\n", XXH3_64bits(text.data(), text.size()));
}

std::optional<PartRecord> parse_part(const std::string& text) {
  std::istringstream words(text);
  PartRecord record;
  std::string magic;
  unsigned version = 0;
  unsigned verified = 0;
  unsigned has_own_file = 0;
  unsigned is_distinct = 0;
  std::string first;
  std::string last;
  std::uint64_t sum = 0;
  words >> magic >> version >> record.job >> record.part >> record.parts >> record.elements >>
      record.file_bytes >> record.file_number >> verified >> has_own_file >> is_distinct;
  for (Fingerprint* seen : {&record.input, &record.output, &record.repeats}) {
    words >> seen->count >> seen->first >> seen->second;
  }
  words >> record.begin >> record.end >> first >> last >> sum;
  record.verified = verified == 1;
  record.has_own_file = has_own_file == 1;
  record.is_distinct = is_distinct == 1;
  record.first = key_of(first);
  record.last = key_of(last);
  // What differs from what would be written for it is none.
  return encode_part(record) == text ? std::optional(record) : std::nullopt;
}

std::string hidden_prefix(const std::string& name) {
  return fmt::format(".{}.gsort-", name);
}

std::string file_name(const std::string& name, const PartRecord& record) {
  const std::string prefix =
      record.has_own_file ? own_prefix(name) : hidden_prefix(name) + "parts-";
  return fmt::format("{}{:016x}", prefix, record.job);
}

std::string own_prefix(const std::string& name) {
  return hidden_prefix(name) + "own-";
}

std::string record_prefix(const std::string& name) {
  return hidden_prefix(name) + "part-";
}

std::string record_name(const std::string& name, const PartRecord& record) {
  return fmt::format("{}{:016x}-{}-of-{}", record_prefix(name), record.job, record.part,
                     record.parts);
}

std::string joined_name(const std::string& name) {
  return hidden_prefix(name) + "joined";
}

}  // namespace gsort
