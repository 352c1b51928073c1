#include "form/valid_format.hpp"

#include <algorithm>
#include <iterator>

namespace gsort {
namespace {

std::uint64_t end_of(const KeyField& key) {
  return std::uint64_t{key.offset} + key.bytes;
}

}  // namespace

const KeyField* overlapped_key(const RecordFormat& records, const KeyField& key) {
  const auto found = std::ranges::find_if(records.keys, [&](const KeyField& other) {
    return key.offset < end_of(other) && other.offset < end_of(key);
  });
  return found == records.keys.end() ? nullptr : &*found;
}

KeyProblem problem_of_key(const RecordFormat& records, const KeyField& key) {
  const bool has_its_bytes = key.type ? is_valid(*key.type) && key.bytes == bytes_of(*key.type)
                                      : key.bytes > 0 && key.bytes <= RecordFormat::kMostKeyBytes;
  if (!has_its_bytes) return KeyProblem::kBytes;
  if (end_of(key) > records.bytes) return KeyProblem::kBeyondRecord;
  if (overlapped_key(records, key) != nullptr) return KeyProblem::kOverlap;
  return records.keys.size() < RecordFormat::kMostKeys ? KeyProblem::kNone : KeyProblem::kTooMany;
}

bool is_valid(KeyType type) {
  return std::ranges::find(kAllKeyTypes, type) != std::end(kAllKeyTypes);
}

bool is_valid(const RecordFormat& records) {
  if (records.bytes == 0 || records.bytes > RecordFormat::kMostBytes) return false;
  RecordFormat before{records.bytes, {}};
  for (const KeyField& key : records.keys) {
    if (problem_of_key(before, key) != KeyProblem::kNone) return false;
    before.keys.push_back(key);
  }
  return !records.keys.empty();
}

bool is_valid(const ElementFormat& element) {
  return element.records ? is_valid(*element.records) : is_valid(element.key.type);
}

}  // namespace gsort
