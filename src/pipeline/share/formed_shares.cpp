#include "pipeline/share/formed_shares.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "element/numbered_elements.hpp"
#include "form/npy.hpp"
#include "options/job.hpp"

namespace gsort {
namespace {

Error not_of_one_job(const std::string& folder, const std::string& reason) {
  return Error(ErrorKind::kUsage, fmt::format("--from '{}'", folder), reason)
      .hint("--from names the folders of all shares of one input, each once");
}

// The output's header repeats it, and has the columns of a table.
void require_dtype(const io::ResumeFolder& folder) {
  const io::ManifestShare& share = *folder.found()->share;
  const std::uint64_t columns = columns_in(folder.found()->job);
  if (share.dtype_version == 0 && columns == 0) return;
  try {
    const std::string text =
        fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (0,), }}", share.dtype);
    const auto version = static_cast<int>(share.dtype_version);
    const io::NpyHeader header = io::parse_npy_dictionary(text, folder.path(), version);
    const io::Manifest& found = *folder.found();
    const std::uint64_t bytes = bytes_without_number(found.job, found.element_bytes);
    const std::uint64_t numbers = std::max<std::uint64_t>(columns, 1);
    if (checked_product(header.array.element_bytes(), numbers) == bytes) return;
  } catch (const Error&) {
  }
  throw folder.refusal("its dtype is not that of an array of its elements");
}

}  // namespace

FormedShares::FormedShares(const std::vector<std::string>& folders,
                           std::uint64_t most_manifest_bytes) {
  for (const std::string& folder : folders) {
    const io::ResumeFolder& share = folders_.emplace_back(folder, io::ResumeAccess::kRead,
                                                          most_manifest_bytes - manifest_bytes_);
    manifest_bytes_ += share.manifest_bytes();
    if (!share.found() || !share.found()->share) {
      throw not_of_one_job(folder, "it contains no runs made by --form");
    }
    require_dtype(share);
  }
  folders_.sort([](const io::ResumeFolder& a, const io::ResumeFolder& b) {
    return a.found()->share->number < b.found()->share->number;
  });
  require_all_of_one_job();
  for (const io::ResumeFolder& folder : folders_) input_ += fingerprint_of(folder.found()->runs);
}

void FormedShares::require_all_of_one_job() const {
  const io::ManifestShare& wanted = *first().share;
  std::uint64_t elements = 0;
  std::uint32_t number = 0;
  for (const io::ResumeFolder& folder : folders_) {
    const io::Manifest& found = *folder.found();
    const io::ManifestShare& share = *found.share;
    const bool same_inputs = wanted.has_own_inputs || have_same_inputs(found, first());
    if (found.job != first().job || found.element_bytes != first().element_bytes ||
        share.dtype != wanted.dtype || share.shares != wanted.shares ||
        share.has_own_inputs != wanted.has_own_inputs || !same_inputs) {
      throw not_of_one_job(folder.path(), "it belongs to another job than the other folders");
    }
    if (share.number < number) {
      throw not_of_one_job(
          folder.path(),
          fmt::format("it holds share {}, and so does another folder", share.number));
    }
    if (share.number != number++) {
      throw not_of_one_job(folder.path(),
                           fmt::format("it holds share {}, but share {} of {} is missing",
                                       share.number, number - 1, wanted.shares));
    }
    if (!wanted.has_own_inputs && share.first_element != elements) {
      throw not_of_one_job(folder.path(), "it does not begin where the share before it ends");
    }
    for (const io::ManifestRun& run : found.runs) {
      elements = checked_sum(elements, run.input.count);
    }
  }
  if (number == wanted.shares) return;
  throw not_of_one_job(folders_.back().path(),
                       fmt::format("it holds share {}, but share {} of {} is missing", number - 1,
                                   number, wanted.shares));
}

std::optional<StoredDtype> FormedShares::dtype() const {
  const io::ManifestShare& share = *first().share;
  if (share.dtype_version == 0) return std::nullopt;
  return StoredDtype{share.dtype, static_cast<int>(share.dtype_version)};
}

std::uint64_t FormedShares::runs() const {
  std::uint64_t runs = 0;
  for (const io::ResumeFolder& folder : folders_) runs += folder.found()->runs.size();
  return runs;
}

std::uint64_t FormedShares::block_elements() const {
  std::uint64_t most = 1;
  for (const io::ResumeFolder& folder : folders_) {
    most = std::max(most, folder.found()->block_elements);
  }
  return most;
}

std::uint64_t FormedShares::number() const {
  std::string text =
      fmt::format("{} {} {}", first().job, first().element_bytes, first().share->dtype);
  for (const io::ResumeFolder& folder : folders_) {
    for (const io::ManifestInput& input : folder.found()->inputs) {
      text += fmt::format(" {} {}", input.bytes, input.changed_ns);
    }
    const Fingerprint sum = fingerprint_of(folder.found()->runs);
    text += fmt::format(" {} {} {};", sum.count, sum.first, sum.second);
  }
  return XXH3_64bits(text.data(), text.size());
}

std::vector<io::Run> FormedShares::open_runs(const Plan& plan, KeptStores& stores) {
  std::vector<io::Run> runs;
  for (io::ResumeFolder& folder : folders_) {
    io::RunStore& store = stores.open(plan, folder);
    for (const io::ManifestRun& run : folder.found()->runs) runs.push_back(store.find(run));
  }
  return runs;
}

}  // namespace gsort
