// PartRecord: a line of text with a checksum. A process that has written a part of an output leaves
// this record beside the output, for the process that joins the parts. Also the names of the hidden
// files beside an output.
//
//   gsort-part 5 JOB PART PARTS ELEMENTS BYTES MARK VERIFIED OWN DISTINCT INPUT OUTPUT REPEATS
//   BEGIN END CONTENT BEGAN ENDED HINTS REPLACED FIRST LAST SUM
//
// It is one line. INPUT, OUTPUT and REPEATS are fingerprints, three numbers each; CONTENT is the
// sum of the part's bytes, two numbers (io/output/content_sum.hpp); BEGAN and ENDED are times of
// the file's last change, as seen when the part was begun (0 if the file was new) and when it was
// complete; HINTS are three numbers of the joined output (io/output/shared_file.hpp); REPLACED is
// 1, and the size and the time of the last change of the input that the output replaces, as
// --form read it, or three zeros; FIRST and LAST are the normalised keys at the ends of the part,
// in hexadecimal digits after a dot; SUM is XXH3-64 of all text before it. Records of earlier
// versions are ignored: version 2 identified files by inode numbers, which file systems use again;
// version 3 had no REPLACED, version 4 no BEGAN and no ENDED.
//
// A file of parts has a random mark in its name, and is made once, under this name. So a record
// describes the file with its mark, or none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/input/input.hpp"
#include "io/output/shared_file.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

struct PartRecord {
  std::uint64_t job = 0;  // the same for all parts of the same shares in the same form
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  std::uint64_t elements = 0;    // of all shares
  std::uint64_t file_bytes = 0;  // of the file: one for all parts, or the part's own
  std::uint64_t mark = 0;        // of that file
  bool verified = false;
  bool has_own_file = false;
  bool is_distinct = false;  // of equal elements, one is written
  Fingerprint input;         // of all shares
  Fingerprint output;
  Fingerprint repeats;      // the part's elements that were not written
  std::uint64_t begin = 0;  // of the part, in the elements of all shares in order
  std::uint64_t end = 0;
  io::ContentSum content;     // of the part's bytes, at their offsets in the file
  std::int64_t began_ns = 0;  // the file's last change, seen then; 0: it was new
  std::int64_t ended_ns = 0;
  io::FileHints hints;                    // of the joined output
  std::optional<io::FileState> replaced;  // of the input that the output replaces
  std::string first;                      // empty if not verified, or without elements
  std::string last;

  friend bool operator==(const PartRecord&, const PartRecord&) = default;
};

[[nodiscard]] std::string encode_part(const PartRecord& record);
// Returns null for any other text.
[[nodiscard]] std::optional<PartRecord> parse_part(const std::string& text);

// The record with this name beside an output, if its owner is this user or root; else nullopt.
// Throws: Error(kOutput).
[[nodiscard]] std::optional<PartRecord> read_part(const io::OutputPlace& place,
                                                  const std::string& name);

// Names of hidden files beside the output `name`. file_name(): the file that all parts share, or a
// part's own file. record_name(): the record of a part. mark_name(): the record of the mark of the
// shared file; after `lost`, if that file is gone (part_file.hpp). joined_name(): the record of the
// joined output. The prefixes are the beginnings of all such names; is_hidden_name(): whether a
// name is any of these, or the temporary name of one.
[[nodiscard]] std::string file_prefix(const std::string& name, const PartRecord& record);
[[nodiscard]] std::string file_name(const std::string& name, const PartRecord& record);
[[nodiscard]] std::string own_prefix(const std::string& name);  // of own files
[[nodiscard]] std::string record_prefix(const std::string& name);
[[nodiscard]] std::string record_name(const std::string& name, const PartRecord& record);
[[nodiscard]] std::string mark_prefix(const std::string& name, const PartRecord& record);
[[nodiscard]] std::string mark_name(const std::string& name, const PartRecord& record,
                                    std::optional<std::uint64_t> lost);
[[nodiscard]] std::string joined_name(const std::string& name);
[[nodiscard]] std::string hidden_prefix(const std::string& name);
[[nodiscard]] bool is_hidden_name(const std::string& name, std::string_view hidden);

}  // namespace gsort
