// The results of --form: the folders of all shares of one job, and the runs in them. They are only
// read, and nothing is locked: several processes may have them open.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "element/fingerprint.hpp"
#include "form/stored_array.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/run_folder.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The folders of all shares, in the order of the shares.
class FormedShares {
 public:
  // Throws: Error(kTemporary) if a folder is missing or damaged; Error(kUsage) if they are not
  // those of all shares of one job, or if their manifests have more than `most_manifest_bytes`.
  explicit FormedShares(const std::vector<std::string>& folders,
                        std::uint64_t most_manifest_bytes = io::kMostManifestBytes);

  [[nodiscard]] const std::string& description() const { return first().job; }
  [[nodiscard]] std::uint64_t element_bytes() const { return first().element_bytes; }
  [[nodiscard]] std::optional<StoredDtype> dtype() const;
  [[nodiscard]] const Fingerprint& input() const { return input_; }
  [[nodiscard]] std::uint64_t elements() const { return input_.count; }
  [[nodiscard]] std::uint64_t runs() const;
  [[nodiscard]] std::uint64_t block_elements() const;  // the most of any block
  [[nodiscard]] std::list<io::ResumeFolder>& folders() { return folders_; }
  [[nodiscard]] std::uint64_t manifest_bytes() const { return manifest_bytes_; }  // of all shares
  // Opens all runs to be read. This outlives the stores. Throws: Error(kTemporary) if a run is
  // missing or incomplete.
  [[nodiscard]] std::vector<io::Run> open_runs(const Plan& plan, KeptStores& stores);
  // Identifies what is sorted, and how: the same number for the same shares, even if formed again.
  [[nodiscard]] std::uint64_t number() const;

 private:
  [[nodiscard]] const io::Manifest& first() const { return *folders_.front().found(); }
  void require_all_of_one_job() const;

  std::list<io::ResumeFolder> folders_;
  std::uint64_t manifest_bytes_ = 0;
  Fingerprint input_;
};

}  // namespace gsort
