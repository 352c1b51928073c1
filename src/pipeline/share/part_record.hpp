// PartRecord: what a process that has written a part of an output leaves beside it, for the process
// that joins the parts: a line of text with a checksum. Also the names of the hidden files beside
// an output.
//
//   gsort-part 2 JOB PART PARTS ELEMENTS BYTES FILE VERIFIED OWN DISTINCT INPUT OUTPUT REPEATS
//   BEGIN END FIRST LAST SUM
//
// It is one line. INPUT, OUTPUT and REPEATS are fingerprints, three numbers each; FIRST and LAST
// the normalised keys at the ends of the part, in hexadecimal digits behind a dot; SUM is XXH3-64
// of all before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/proof/proof.hpp"

namespace gsort {

struct PartRecord {
  std::uint64_t job = 0;  // the same for all parts of the same shares in the same form
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  std::uint64_t elements = 0;     // of all shares
  std::uint64_t file_bytes = 0;   // of the file: one for all parts, or the part's own
  std::uint64_t file_number = 0;  // of that file, while it exists
  bool verified = false;
  bool has_own_file = false;
  bool is_distinct = false;  // of equal elements, one is written
  Fingerprint input;         // of all shares
  Fingerprint output;
  Fingerprint repeats;      // the part's elements that were not written
  std::uint64_t begin = 0;  // of the part, in the elements of all shares in order
  std::uint64_t end = 0;
  std::string first;  // empty unless verified, or without elements
  std::string last;

  friend bool operator==(const PartRecord&, const PartRecord&) = default;
};

[[nodiscard]] std::string encode_part(const PartRecord& record);
// None for any other text.
[[nodiscard]] std::optional<PartRecord> parse_part(const std::string& text);

// Names of hidden files beside the output `name`. hidden_prefix(): the beginning of all of them.
// file_name(): the file that all parts share; the names of a part's own files, and of a shared file
// that was renamed (io::move_aside), begin with it. record_name(): the record of a part.
// joined_name(): the record of the joined output.
[[nodiscard]] std::string hidden_prefix(const std::string& name);
[[nodiscard]] std::string file_name(const std::string& name, const PartRecord& record);
[[nodiscard]] std::string own_prefix(const std::string& name);  // of own files
[[nodiscard]] std::string record_prefix(const std::string& name);
[[nodiscard]] std::string record_name(const std::string& name, const PartRecord& record);
[[nodiscard]] std::string joined_name(const std::string& name);

}  // namespace gsort
