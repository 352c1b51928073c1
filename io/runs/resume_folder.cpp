#include "io/runs/resume_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.hpp"
#include "io/system/file.hpp"
#include "io/system/linkable_file.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr const char* kManifestName = "gsort.manifest";
constexpr const char* kRunsName = "gsort.runs";
constexpr std::string_view kNotOurs = "gsort did not create this file; name another folder";
constexpr mode_t kFolderOfTheOwner = 0700;
constexpr mode_t kFileOfTheOwner = 0600;

// The end of the file of runs, by a manifest.
std::uint64_t end_of_runs(const Manifest& manifest) {
  std::uint64_t end = 0;
  for (const ManifestRun& run : manifest.runs) {
    const std::uint64_t index_bytes = run.index.blocks * kIndexEntryBytes;
    end = std::max(end, round_up(run.index.offset + index_bytes, kDirectAlignment));
  }
  return end;
}

// Null if a file of the folder may be gsort's.
const char* problem_of(const struct stat& facts, const Folder& folder) {
  return !S_ISREG(facts.st_mode)           ? "is not a regular file"
         : !is_of_this_user(folder, facts) ? "belongs to another user"
         : facts.st_nlink > 1              ? "has more than one hard link"
                                           : nullptr;
}

}  // namespace

void require_readable(const WantedFolder& wanted) {
  const std::uint64_t bytes = encoded_bytes(wanted.manifest);
  const std::uint64_t most =
      std::min(wanted.most_manifest_bytes, kMostManifestBytes) / 4 * 3;  // runs follow
  if (bytes <= most) return;
  throw Error(ErrorKind::kUsage, "keeping runs in",
              fmt::format("the names of {} inputs take {} there, and the memory of this sort has "
                          "room for {}",
                          wanted.manifest.inputs.size(), format_bytes(bytes), format_bytes(most)))
      .path(wanted.path)
      .hint("give more memory with -S, or use shorter names");
}

ResumeFolder::ResumeFolder(std::string path, ResumeAccess access, ResumePath whose)
    : path_(std::move(path)), access_(access), whose_(whose) {}

ResumeFolder::ResumeFolder(std::string path, ResumeAccess access, std::uint64_t most_bytes,
                           ResumePath whose)
    : ResumeFolder(std::move(path), access, whose) {
  constexpr int kAttempts = 5;
  for (int attempt = 1; !folder_.file.is_open(); ++attempt) {
    if (access == ResumeAccess::kUse) make();
    try {
      open();
      if (access == ResumeAccess::kUse) lock();
    } catch (const Error& error) {
      if (error.error_number() != ENOENT) throw;
      folder_ = {};
      if (access == ResumeAccess::kLook) return;
      if (access == ResumeAccess::kRead || attempt == kAttempts) throw;
    }
  }
  if (!folder_.readable) throw folder_.file.error("opening the folder", EACCES);
  read_manifest(most_bytes);
}

void ResumeFolder::make() {
  is_made_ = sys::make_folder(path_.c_str(), kFolderOfTheOwner) == 0;
  const int problem = is_made_ ? 0 : errno;
  if (problem == 0 || problem == EEXIST) return;
  throw Error::from_errno(ErrorKind::kTemporary, "making the folder", problem)
      .path(path_)
      .hint(problem == ENAMETOOLONG || problem == EPERM
                ? hint_for(problem)
                : "name a folder, or a path where one can be created");
}

void ResumeFolder::open() {
  if (whose_ == ResumePath::kOfUser) {
    folder_ = open_folder(path_, ErrorKind::kTemporary);
    return;
  }
  const auto refusal = [&](const char* reason) {
    return Error(ErrorKind::kTemporary, "opening the folder", reason)
        .path(path_)
        .hint("gsort did not create this folder; move it, or name another folder");
  };
  try {
    folder_ = open_folder(path_, ErrorKind::kTemporary, O_NOFOLLOW);
  } catch (const Error& error) {
    const bool is_other = error.error_number() == ENOTDIR || error.error_number() == ELOOP;
    throw is_other ? refusal("is a link, or a file") : error;
  }
  const struct stat facts = folder_.file.facts();
  if (facts.st_uid == 0 || is_of_this_user(folder_, facts)) return;
  folder_ = {};
  throw refusal("belongs to another user");
}

// A file system without locks gives another error; the folder is then used without a lock.
void ResumeFolder::lock() {
  if (sys::lock(folder_.file.fd()) != 0 && errno == EWOULDBLOCK) {
    is_made_ = false;  // it stays for the other one, which found it before this one locked it
    throw Error(ErrorKind::kTemporary, "resuming from", "another gsort is using it")
        .path(path_)
        .hint("wait until it ends, or name another folder");
  }
  // Another sort that made the folder may have removed it before it was locked.
  const int problem = problem_with_path();
  if (problem != 0) throw folder_.file.error("opening the folder", problem);
}

int ResumeFolder::problem_with_path() const {
  struct stat named = {};
  const int flags = whose_ == ResumePath::kOfUser ? 0 : AT_SYMLINK_NOFOLLOW;
  if (sys::stat_at(AT_FDCWD, path_.c_str(), &named, flags) != 0) return errno;
  return sys::same_inode(named, folder_.file.facts()) ? 0 : ENOENT;
}

bool ResumeFolder::exists() const {
  return folder_.file.is_open() && problem_with_path() == 0;
}

ResumeFolder::~ResumeFolder() {
  if (is_made_) sys::remove_folder(path_.c_str());
}

std::array<std::string, 2> ResumeFolder::files_of(const std::string& path) {
  const std::filesystem::path folder(path);
  return {folder / kManifestName, folder / kRunsName};
}

std::string ResumeFolder::words_for_files_of(const std::string& path) {
  return fmt::format("{}", fmt::join(files_of(path), " and "));
}

std::string ResumeFolder::path_of(const char* name) const {
  return std::filesystem::path(path_) / name;
}

Error ResumeFolder::refusal(const std::string& reason) const {
  return Error(ErrorKind::kTemporary, "resuming from", reason)
      .path(path_of(kManifestName))
      .hint(access_ == ResumeAccess::kRead
                ? "run --form again for this share, in a new folder"
                : fmt::format("to start again, name another folder, or remove {} if no other sort "
                              "needs them",
                              words_for_files_of(path_)));
}

// The result is not open if the file does not exist.
File ResumeFolder::open_file(const char* name, int flags) const {
  const std::string path = path_of(name);
  const int fd =
      sys::open_at(folder_.file.fd(), name, flags | O_NOFOLLOW | O_NONBLOCK, kFileOfTheOwner);
  if (fd < 0 && errno == ENOENT) return {};
  if (fd < 0) {
    throw Error::from_errno(ErrorKind::kTemporary, "opening", errno)
        .path(path)
        .hint(errno == ELOOP ? kNotOurs : hint_for(errno));
  }
  File file(fd, path, ErrorKind::kTemporary);
  const char* const problem = problem_of(file.facts(), folder_);
  if (problem != nullptr) {
    throw Error(ErrorKind::kTemporary, "opening", problem).path(path).hint(kNotOurs);
  }
  return file;
}

void ResumeFolder::read_manifest(std::uint64_t most_bytes) {
  File file = open_file(kManifestName, O_RDONLY);
  if (!file.is_open()) {
    if (!open_file(kRunsName, O_RDONLY).is_open()) return;
    file = open_file(kManifestName, O_RDONLY);  // another sort may just have begun
    if (!file.is_open()) throw refusal(fmt::format("there is a {}, but no manifest", kRunsName));
  }
  const auto size = static_cast<std::uint64_t>(file.facts().st_size);
  std::vector<std::byte> bytes(kManifestHeaderBytes);
  bytes.resize(file.read_full_at(bytes, 0));
  std::string_view problem = problem_of_header(bytes, size);
  if (problem.empty() && size > most_bytes) {
    throw refusal(fmt::format("it has {}, and the memory of this sort has room for {}",
                              format_bytes(size), format_bytes(most_bytes)))
        .hint("give more memory with -S");
  }
  if (problem.empty()) {
    bytes.resize(size);
    bytes.resize(file.read_full_at(bytes, 0));
    problem = parse_manifest(bytes, found_.emplace());
    manifest_bytes_ = size;
  }
  if (!problem.empty()) throw refusal(std::string(problem));
}

// After an error the folder is unchanged. A missing file of runs is created after its manifest.
void ResumeFolder::begin(Manifest& manifest) {
  manifest.folder_is_made = is_made_ || (found_ && found_->folder_is_made);
  runs_end_ = end_of_runs(manifest);
  runs_ = open_file(kRunsName, O_RDWR);
  if (runs_end_ > 0) require_runs();
  save(manifest);
  is_made_ = false;  // something is in it
  if (!runs_.is_open()) runs_ = open_file(kRunsName, O_RDWR | O_CREAT);
  runs_.truncate(runs_end_);
  folder_.sync_names(runs_);
  if (manifest.folder_is_made) sync_folder_above();
}

void ResumeFolder::open_runs() {
  runs_ = open_file(kRunsName, O_RDONLY);
  runs_end_ = found_ ? end_of_runs(*found_) : 0;
  require_runs();
}

// Without this, a power cut may remove the new folder with everything in it.
void ResumeFolder::sync_folder_above() const {
  const Folder above = open_folder(path_of(".."), ErrorKind::kTemporary);
  above.sync_names(runs_);
}

void ResumeFolder::require_runs() const {
  if (!runs_.is_open()) throw refusal(fmt::format("there is no {}", kRunsName));
  const auto size = static_cast<std::uint64_t>(runs_.facts().st_size);
  if (size >= runs_end_) return;
  throw refusal(
      fmt::format("{} has {} bytes, of {} that were written", kRunsName, size, runs_end_));
}

void ResumeFolder::save(const Manifest& manifest) {
  const auto text = encode_manifest(manifest);
  if (text.size() > kMostManifestBytes) {
    throw Error(ErrorKind::kTemporary, "keeping runs in",
                fmt::format("there are too many: {} inputs and {} runs", manifest.inputs.size(),
                            manifest.runs.size()))
        .path(path_)
        .hint("give more memory with -S, which makes fewer runs, or leave out --resume");
  }
  write_named_file(folder_, kManifestName, path_of(kManifestName), text);
}

// The file must not be open: NFS and FUSE rename an open file to a hidden name when it is removed.
void ResumeFolder::remove_file(const char* name) const {
  struct stat facts = {};
  const int folder = folder_.file.fd();
  const bool is_seen = sys::stat_at(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (const char* const problem = is_seen ? problem_of(facts, folder_) : nullptr;
      problem != nullptr) {
    throw Error(ErrorKind::kTemporary, "removing", problem).path(path_of(name)).hint(kNotOurs);
  }
  if ((is_seen && sys::unlink_at(folder, name) == 0) || errno == ENOENT) return;
  throw Error::from_errno(ErrorKind::kTemporary, "removing", errno).path(path_of(name));
}

// Saves a manifest without runs first: else the next sort would miss the removed file of runs.
void ResumeFolder::remove(Manifest manifest) {
  if (!manifest.runs.empty()) {
    manifest.runs.clear();
    save(manifest);
  }
  runs_ = {};
  remove_file(kRunsName);
  folder_.sync_names(open_file(kManifestName, O_RDONLY));
  if (manifest.folder_is_made) return discard();
  remove_file(kManifestName);
  is_made_ = false;
}

void ResumeFolder::discard() {
  runs_ = {};
  remove_file(kRunsName);
  remove_file(kManifestName);
  std::error_code problem;  // then the folder stays
  for (std::filesystem::directory_iterator entry(path_, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    // A killed process left it, on a file system without unnamed files.
    const std::string name = entry->path().filename();
    if (is_numbered_name(name, ".gsort-")) remove_if_left(folder_, name);
  }
  is_made_ = true;
}

}  // namespace gsort::io
