// Takes a part of the output from the folders in which the runs of all shares are: merges the runs
// in one range of the output, and writes that to its place in a file that all parts share.
//
// Nothing is locked, and the folders are only read. Part I of P has the same elements whoever takes
// it; so a part may be taken again, after a kill or at the same time. What the part was, when it is
// on the disk, is left beside the output (part_record.hpp), for who joins the parts.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "form/stored_array.hpp"
#include "io/runs/resume_folder.hpp"
#include "pipeline/share/share_range.hpp"
#include "pipeline/sort_job.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The folders of all shares, in the order of the shares.
class FormedShares {
 public:
  // Throws: Error(kTemporary) where a folder is missing or damaged; Error(kUsage) where they are
  // not those of all shares of one job.
  explicit FormedShares(const std::vector<std::string>& folders);

  [[nodiscard]] const std::string& description() const { return first().job; }
  [[nodiscard]] std::uint64_t element_bytes() const { return first().element_bytes; }
  [[nodiscard]] std::optional<StoredDtype> dtype() const;
  [[nodiscard]] const Fingerprint& input() const { return input_; }
  [[nodiscard]] std::uint64_t elements() const { return input_.count; }
  [[nodiscard]] std::uint64_t runs() const;
  [[nodiscard]] std::uint64_t block_elements() const;  // the most of any block
  [[nodiscard]] std::list<io::ResumeFolder>& folders() { return folders_; }
  // A number for what is sorted, and how: the same for the same shares, however often formed.
  [[nodiscard]] std::uint64_t number() const;

 private:
  [[nodiscard]] const io::Manifest& first() const { return *folders_.front().found(); }
  void require_all_of_one_job() const;

  std::list<io::ResumeFolder> folders_;
  Fingerprint input_;
};

struct PartJob {
  std::string output;
  ShareNumber part;
  bool verify = true;
};

// Whether the part has been taken, or its job joined. Changes nothing.
[[nodiscard]] bool is_taken(const PartJob& job, const FormedShares& shares, const OutputForm& form,
                            std::uint64_t header_bytes);

// The header of the output: of the array that it is, or nothing.
[[nodiscard]] std::vector<std::byte> header_of_output(const Job& job, std::uint64_t elements);

// The elements of a part. Requires: the output's form is plain.
[[nodiscard]] OutputRange range_of_part(const PartJob& job, const FormedShares& shares,
                                        std::uint64_t header_bytes);

// Requires: the plan is for all elements as runs that are there already.
// Throws: Error. What has been written of the part stays, and is written again by the next one.
Outcome take_part(const PartJob& job, const Plan& plan, const EngineMaker& make_engine,
                  FormedShares& shares, Meter& meter);

}  // namespace gsort
