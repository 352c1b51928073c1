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

std::optional<std::string> key_of(std::string_view digits) {
  if (digits.size() % 2 != 1 || digits.front() != '.') return std::nullopt;
  std::string key;
  for (std::size_t at = 1; at < digits.size(); at += 2) {
    unsigned byte = 0;
    const char* const end = digits.data() + at + 2;
    if (std::from_chars(digits.data() + at, end, byte, kHexadecimal).ptr != end) {
      return std::nullopt;
    }
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
      fmt::format("{} 1 {} {} {} {} {} {} {} {} {} {} {} {} {} ", kMagic, record.job, record.part,
                  record.parts, record.elements, record.file_bytes, record.file_number,
                  record.verified ? 1 : 0, text_of(record.input), text_of(record.output),
                  record.begin, record.end, digits_of(record.first), digits_of(record.last));
  return text + fmt::format("{}\n", XXH3_64bits(text.data(), text.size()));
}

std::optional<PartRecord> parse_part(const std::string& text) {
  std::istringstream words(text);
  PartRecord record;
  std::string magic;
  unsigned version = 0;
  unsigned verified = 0;
  std::string first;
  std::string last;
  std::uint64_t sum = 0;
  words >> magic >> version >> record.job >> record.part >> record.parts >> record.elements >>
      record.file_bytes >> record.file_number >> verified >> record.input.count >>
      record.input.first >> record.input.second >> record.output.count >> record.output.first >>
      record.output.second >> record.begin >> record.end >> first >> last >> sum;
  if (!words || magic != kMagic || version != 1) return std::nullopt;
  record.verified = verified == 1;
  const auto first_key = key_of(first);
  const auto last_key = key_of(last);
  if (!first_key || !last_key) return std::nullopt;
  record.first = *first_key;
  record.last = *last_key;
  // What differs from what would be written for it is none.
  return encode_part(record) == text ? std::optional(record) : std::nullopt;
}

std::string hidden_prefix(const std::string& name) {
  return fmt::format(".{}.gsort-", name);
}

std::string shared_name(const std::string& name, std::uint64_t job) {
  return fmt::format("{}parts-{:016x}", hidden_prefix(name), job);
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
