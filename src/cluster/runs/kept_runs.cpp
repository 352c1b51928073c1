#include "cluster/runs/kept_runs.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/files.hpp"
#include "app/prepared_sort.hpp"
#include "base/error.hpp"
#include "cluster/runs/room.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/file.hpp"
#include "io/system/sys.hpp"

namespace gsort::cluster {
namespace {

constexpr std::string_view kPrefix = "gsort-";
constexpr std::string_view kMark = ".gsort-made-this-folder";
constexpr mode_t kFolderOfTheOwner = 0700;

bool is_name_of_ours(std::string_view name) {
  return io::is_numbered_name(name, kPrefix);
}

}  // namespace

KeptRuns::KeptRuns(Team& team, const Request& request, io::Manifest wanted,
                   const OutputRange& readable)
    : team_(team),
      request_(request),
      wanted_{without_slash(*request.resume), std::move(wanted),
              io::manifest_limit(
                  on_this_host([&] { return memory_of(request, team.processes_here()); }))},
      view_{readable, {}, {}} {
  if (only_looks()) return;
  io::refuse_folder_that_would_stay(wanted_.path, folder_above(wanted_.path));
  if (io::sys::make_folder(wanted_.path.c_str(), kFolderOfTheOwner) == 0) {
    try {
      io::write_record(io::OutputPlace(path_of("")), std::string(kMark), "");
    } catch (const Error&) {
      io::sys::remove_folder(wanted_.path.c_str());  // where the output is in it, it stays
      throw;
    }
  } else if (const int problem = errno; problem != EEXIST) {
    throw Error::from_errno(ErrorKind::kTemporary, "making the folder", problem)
        .path(wanted_.path)
        .hint(problem == EPERM ? io::hint_for(problem)
                               : "--resume needs a folder, or a path where one can be created");
  }
}

KeptRuns::~KeptRuns() {
  if (only_looks()) return;
  try {
    own_.reset();
    remove_dir();
  } catch (const std::exception&) {  // the next sort removes it
  }
}

std::string KeptRuns::path_of(const std::string& name) const {
  return wanted_.path + "/" + name;
}

std::string KeptRuns::existing_folder() const {
  return io::is_there(wanted_.path) ? wanted_.path : folder_above(wanted_.path);
}

std::vector<std::string> KeptRuns::names() const {
  if (!io::is_there(wanted_.path)) return {};
  if (io::is_there(io::ResumeFolder::files_of(wanted_.path).front())) {
    throw Error(ErrorKind::kTemporary, "resuming from", "it holds runs of gsort")
        .path(wanted_.path)
        .hint("resume that sort with gsort, or name another folder");
  }
  std::vector<std::string> names = io::open_folder(wanted_.path, ErrorKind::kOutput).names(kPrefix);
  std::erase_if(names, [](const std::string& name) { return !is_name_of_ours(name); });
  return names;
}

void KeptRuns::look() {
  for (const std::string& name : names()) look_at(name);
}

void KeptRuns::look_at(const std::string& name) {
  const io::ResumeFolder folder(path_of(name), io::ResumeAccess::kRead, wanted_.most_manifest_bytes,
                                io::ResumePath::kOfGsort);
  const SeenFolder found = seen(name, folder);
  // Without runs, it was left by a process that had none yet, and is only removed.
  if (!found.runs.empty()) {
    try {
      require_same_job(folder, wanted_.manifest);
      if (found.runs.back().end > view_.readable.end) {
        throw folder.refusal("its contents are inconsistent");
      }
    } catch (const Error& error) {
      const Error told = refusal(error, folder.found()->is_committing);
      if (!request_.inputs_here) throw Error(told);
      const io::Manifest& manifest = *folder.found();
      const bool has_our_names =
          std::ranges::equal(manifest.inputs, wanted_.manifest.inputs, {}, &io::ManifestInput::path,
                             &io::ManifestInput::path);
      const std::string reason =
          has_our_names || manifest.inputs.empty()
              ? told.reason()
              : fmt::format("it holds runs of {}, which no process reads as its first input",
                            manifest.inputs.front().path);
      view_.foreign.push_back(
          {found.name, found.store, has_our_names, told.path(), reason, told.hint()});
      return;
    }
  }
  view_.seen.push_back(found);
}

SeenFolder KeptRuns::seen(const std::string& name, const io::ResumeFolder& folder) const {
  SeenFolder seen{name, 0, {}};
  if (!folder.found()) return seen;
  seen.store = folder.found()->store;
  for (const io::ManifestRun& run : folder.found()->runs) {
    const std::uint64_t first = view_.readable.begin + run.first_element;
    seen.runs.push_back({first, first + run.input.count});
  }
  return seen;
}

// The folder is one of several, and another sort may be at work in it: nothing is locked yet.
Error KeptRuns::refusal(const Error& error, bool is_committing) const {
  const std::string all = fmt::format("remove {}/{}*", wanted_.path, kPrefix);
  return Error(error).hint(
      is_committing
          ? fmt::format(
                "if the output has replaced that input, the sort is complete: {}; otherwise "
                "{} to start again, or name another folder",
                all, all)
          : fmt::format("if no other sort uses it, {} to start again, or name another folder",
                        all));
}

Message KeptRuns::tasks_of(const std::vector<Message>& views) const {
  using Key = std::pair<std::string, std::uint64_t>;
  std::vector<OutputRange> inputs;
  std::vector<std::vector<SeenFolder>> seen;
  std::set<Key> known;
  std::map<Key, std::pair<bool, Error>> foreign;  // the best reason: whether its names are the same
  for (unsigned rank = 0; rank < views.size(); ++rank) {
    View view = value_in<View>(views[rank]);
    inputs.push_back(view.readable);
    for (const SeenFolder& folder : view.seen) known.insert({folder.name, folder.store});
    seen.push_back(std::move(view.seen));
    for (const Foreign& folder : view.foreign) {
      const Error error =
          Error(ErrorKind::kUsage, fmt::format("resuming on {} from", team_.name_of(rank)),
                folder.reason)
              .path(folder.path)
              .hint(folder.hint);
      const auto found =
          foreign.try_emplace({folder.name, folder.store}, folder.has_our_names, error).first;
      if (folder.has_our_names && !found->second.first) found->second = {true, error};
    }
  }
  for (const auto& [folder, refusal] : foreign) {
    if (!known.contains(folder)) throw Error(refusal.second);  // of inputs that no process has
  }
  return message_of(share_out(inputs, request_.inputs_here, seen));
}

std::vector<OutputRange> KeptRuns::agree() {
  team_.work([this] {
    on_this_host([this] { io::require_readable(wanted_); });
    look();
  });
  const std::vector<Message> views = team_.gather(message_of(view_));
  const Message tasks = team_.broadcast(team_.rank() == 0 ? tasks_of(views) : Message());
  const auto all = value_in<std::vector<RunTask>>(tasks);
  if (all.size() != team_.count()) throw_malformed();
  const RunTask& own = all[team_.rank()];
  team_.work([&] {
    require_open_files(team_, request_, own.folders.size());
    for (const RunTask::Folder& folder : own.folders) take(folder);
  });
  return own.to_form;
}

void KeptRuns::take(const RunTask::Folder& task) {
  const io::ResumeAccess access = only_looks() ? io::ResumeAccess::kRead : io::ResumeAccess::kUse;
  TakenFolder& taken =
      taken_.emplace_back(path_of(task.name), access, wanted_.most_manifest_bytes, task.runs);
  const std::optional<io::Manifest>& found = taken.folder.found();
  const std::uint64_t store = found ? found->store : 0;
  if (store != task.store || (!task.runs.empty() && task.runs.back() >= found->runs.size())) {
    throw Error(ErrorKind::kTemporary, "resuming from", "another sort has changed it")
        .path(taken.folder.path())
        .hint("wait until the other sort ends, or name another folder");
  }
  for (const std::uint64_t run : task.runs) {
    ++resumed_.runs;
    resumed_.elements += found->runs[run].input.count;
    resumed_.block_elements = std::max(resumed_.block_elements, found->block_elements);
  }
}

std::vector<PlacedRun> KeptRuns::take_up(const Plan& plan, Proof& proof) {
  std::vector<PlacedRun> placed;
  for (TakenFolder& taken : taken_) {
    if (taken.runs.empty()) continue;
    io::RunStore& store = stores_.open(plan, taken.folder);
    for (const std::uint64_t number : taken.runs) {
      const io::ManifestRun& kept = taken.folder.found()->runs[number];
      placed.push_back({view_.readable.begin + kept.first_element, store.find(kept)});
      proof.add_input_of_before(kept.input);
    }
  }
  return placed;
}

std::uint64_t KeptRuns::manifest_memory_bytes() const {
  std::uint64_t bytes = io::encoded_bytes(wanted_.manifest);
  for (const TakenFolder& taken : taken_) bytes += taken.folder.manifest_bytes();
  return io::manifest_memory(bytes);
}

RunFolder& KeptRuns::begin(io::Reader& reader) {
  io::WantedFolder own{path_of(io::numbered_name(kPrefix)), wanted_.manifest};
  return own_.emplace(std::move(own), io::ResumeAccess::kUse, reader);
}

void KeptRuns::expect_commit() {
  if (own_) own_->expect_commit();
  for (TakenFolder& taken : taken_) {
    if (!taken.folder.found()) continue;
    io::Manifest manifest = *taken.folder.found();
    manifest.is_committing = true;
    taken.folder.save(manifest);
  }
}

void KeptRuns::remove_all() {
  stores_.close();
  for (TakenFolder& taken : taken_) {
    io::Manifest manifest = taken.folder.found().value_or(wanted_.manifest);
    manifest.folder_is_made = true;
    taken.folder.remove(std::move(manifest));
  }
  taken_.clear();
  if (own_) own_->remove();
  own_.reset();
}

// If gsort-mpi has made it, and nothing else is in it. Others may do so at the same time, and be
// done first, or begin: then the mark comes back, and the last one removes all.
void KeptRuns::remove_dir() const {
  const std::string mark(kMark);
  const auto is_used = [&] {
    return std::ranges::any_of(io::open_folder(wanted_.path, ErrorKind::kOutput).names(kPrefix),
                               is_name_of_ours);
  };
  try {
    while (io::is_there(path_of(mark)) && !is_used()) {
      io::remove_beside(io::OutputPlace(path_of("")), mark);
      if (io::sys::remove_folder(wanted_.path.c_str()) == 0) return;
      if (is_used()) {
        io::write_record(io::OutputPlace(path_of("")), mark, "");
      } else {  // no more, or the output is in it, and it stays
        io::sys::remove_folder(wanted_.path.c_str());
      }
    }
  } catch (const Error&) {
  }
}

std::string KeptRuns::remove() {
  std::string problem;
  team_.work([&] {
    try {
      remove_all();
    } catch (const Error& error) {
      problem = fmt::format("on {}: {}", team_.name_of(team_.rank()), error.what());
    }
  });
  std::string problems;
  for (const Message& message : team_.gather(std::as_bytes(std::span(problem)))) {
    if (message.empty()) continue;
    const std::string_view text(reinterpret_cast<const char*>(message.data()), message.size());
    problems += fmt::format("gsort-mpi: the output is in place, but runs are left {}\n", text);
  }
  team_.meet();  // all have removed theirs
  team_.work([this] { remove_dir(); });
  return problems;
}

}  // namespace gsort::cluster
