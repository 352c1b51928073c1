#include "pipeline/share/form_share.hpp"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/output/shared_file.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/system/file.hpp"
#include "io/system/held_signals.hpp"
#include "io/system/sys.hpp"
#include "io/system/temporary_file.hpp"
#include "pipeline/run_folder.hpp"
#include "pipeline/sort_job.hpp"

namespace gsort {
namespace {

Error other_folder(const std::string& folder, const std::string& reason) {
  return Error(ErrorKind::kTemporary, "forming runs in", reason)
      .path(folder)
      .hint("name a folder that does not exist");
}

// The difference between `found` and what this process would make, except for how it is divided
// into runs; empty if there is none.
std::string difference(const io::Manifest& found, const io::Manifest& wanted) {
  if (!found.share) return "it holds runs of --resume";
  const io::ManifestShare& share = *wanted.share;
  if (found.share->number != share.number || found.share->shares != share.shares) {
    return fmt::format("it holds share {}/{}", found.share->number, found.share->shares);
  }
  if (found.job != wanted.job || found.element_bytes != wanted.element_bytes) {
    return fmt::format("the saved share differs: it was '{}', this one is '{}'", found.job,
                       wanted.job);
  }
  const bool is_same = found.share->has_own_inputs == share.has_own_inputs &&
                       found.share->dtype == share.dtype && have_same_inputs(found, wanted);
  return is_same ? "" : "its share was of other inputs, or they have changed since";
}

bool holds(const io::WantedFolder& wanted) {
  const std::string folder = without_slash(wanted.path);
  if (!io::is_there(folder)) return false;
  const io::ResumeFolder there(folder, io::ResumeAccess::kRead, wanted.most_manifest_bytes);
  if (!there.found()) {
    if (io::open_folder(folder, ErrorKind::kOutput).names("").empty()) return false;  // replaced
    throw other_folder(folder, "it holds other files");
  }
  const std::string problem = difference(*there.found(), wanted.manifest);
  if (!problem.empty()) throw other_folder(folder, problem);
  return true;
}

std::string hidden_folder_of(const std::string& folder) {
  return fmt::format(".{}.gsort-", folder);
}

// Removes the remains of this folder that killed processes have left; a live process keeps its own.
void remove_left(const io::OutputPlace& place) {
  const std::string prefix = hidden_folder_of(place.name);
  for (const std::string& name : place.folder->names(prefix)) {
    if (!io::is_numbered_name(name, prefix)) continue;
    try {
      io::ResumeFolder left(place.path_of(name), io::ResumeAccess::kUse, io::kMostManifestBytes,
                            io::ResumePath::kOfGsort);
      left.discard();
    } catch (const Error&) {  // it is in use, or gsort did not make it
    }
  }
}

// The folder in which a share's runs are formed. It has a hidden name until put_in_place(); without
// that call, the destructor removes it.
class ShareFolder {
 public:
  // Requires: as form_share().
  ShareFolder(const SortContext& context, io::WantedFolder wanted)
      : wanted_(std::move(wanted)), place_(without_slash(wanted_.path)) {
    wanted_.manifest.share->first_element = context.reader->position() / context.plan.element_bytes;
    remove_left(place_);
    begin(context);
  }
  ~ShareFolder() { discard(); }
  ShareFolder(const ShareFolder&) = delete;
  ShareFolder& operator=(const ShareFolder&) = delete;

  [[nodiscard]] RunFolder& runs() { return *run_folder_; }

  // The folder that is there already may be that of another process with the same share.
  void put_in_place() {
    run_folder_->complete(*wanted_.manifest.share);
    int problem = 0;
    {
      const io::HeldSignals held;
      const char* const name = place_.name.c_str();
      if (io::sys::rename_at(place_.fd(), hidden_.c_str(), name) != 0) problem = errno;
      if (problem == 0) forget();  // it stays, even if its name may not be on the disk yet
    }
    if (problem == 0) {
      place_.folder->sync_names(inside_.file);
    } else if (!holds(wanted_)) {
      throw Error::from_errno(ErrorKind::kTemporary, "putting in place", problem)
          .path(without_slash(wanted_.path))
          .hint(problem == ENOTDIR ? "name a folder that does not exist" : io::hint_for(problem));
    }
  }

 private:
  // Another process may remove what it takes for left over before it is locked.
  void begin(const SortContext& context) {
    constexpr int kAttempts = 5;
    for (int attempt = 1;; ++attempt) {
      try {
        const io::HeldSignals held;
        hidden_ = io::numbered_name(hidden_folder_of(place_.name));
        const std::string path = place_.path_of(hidden_);
        io::WantedFolder incomplete{path, wanted_.manifest};
        incomplete.manifest.share.reset();
        run_folder_.emplace(std::move(incomplete), io::ResumeAccess::kUse, *context.reader);
        static_cast<void>(run_folder_->begin(context.plan.run.block_elements));
        inside_ = io::open_folder(path, ErrorKind::kTemporary);
        removed_ = {place_.fd(), hidden_, io::RemovedOnSignal::Kind::kFolder};
        return;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kTemporary || attempt == kAttempts) throw;
      }
    }
  }

  void discard() noexcept {
    try {
      if (run_folder_) run_folder_->discard();
    } catch (const std::exception&) {  // the next process removes it
    }
    forget();
  }

  void forget() {
    run_folder_.reset();
    removed_ = {};
  }

  io::WantedFolder wanted_;
  const io::OutputPlace place_;
  std::string hidden_;
  io::Folder inside_;  // the hidden folder
  io::RemovedOnSignal removed_;
  std::optional<RunFolder> run_folder_;
};

}  // namespace

void hold_in_runs(Job& job) {
  constexpr std::size_t kLeastBytes = 4;  // that engines sort as keys
  const ElementFormat element = job.element;
  if (element.records || element.bytes() >= kLeastBytes) return;
  const auto bytes = static_cast<std::uint32_t>(element.bytes());
  const KeyFormat& key = element.key;
  const FloatOrder by_bits =
      key.float_order == FloatOrder::kTotal ? FloatOrder::kTotal : FloatOrder::kNumericByBits;
  job.shown = element;
  job.element.records = element.shown_records().value_or(
      RecordFormat{bytes, {{0, bytes, key.type, key.big_endian, key.descending, by_bits}}});
  job.element.key.tuple = {};
}

bool is_formed(const io::WantedFolder& wanted) {
  if (!holds(wanted)) return false;
  remove_left(io::OutputPlace(without_slash(wanted.path)));  // no later process would
  return true;
}

Outcome form_share(const SortContext& door, const io::WantedFolder& wanted) {
  return run_attempts(door, {}, [&](SortContext context) {
    ShareFolder share(context, wanted);
    context.run_folder = &share.runs();
    Outcome outcome = form_kept_runs(context);
    share.put_in_place();
    return outcome;
  });
}

}  // namespace gsort
