// ResumeFolder: the folder of a sort that can be resumed. It holds two files: `gsort.runs`, in
// which the runs are, and `gsort.manifest`, which says what they belong to (manifest.hpp). Both are
// there until the output is complete, whatever ends the process.
//
// The order of the steps keeps the folder consistent at every moment: the manifest comes first and
// goes last; a run is on the disk before a manifest names it; a manifest is replaced by renaming.
//
// The files are opened through the folder's descriptor, must be regular files of this user with one
// name, and are never followed when they are links. A lock on the folder keeps other sorts out.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "io/runs/manifest.hpp"
#include "io/system/temporary_file.hpp"

namespace gsort::io {

// The memory of a manifest of this size, decoded and encoded. The program has room for a short one.
[[nodiscard]] constexpr std::uint64_t manifest_memory(std::uint64_t manifest_bytes) {
  constexpr std::uint64_t kShort = 64 * kKiB;
  return manifest_bytes <= kShort ? 0 : 4 * manifest_bytes;
}

// The longest manifest that a sort with this much memory reads.
[[nodiscard]] constexpr std::uint64_t manifest_limit(std::uint64_t memory_bytes) {
  return memory_bytes / 8;
}

// A folder in which a sort will keep runs, and its manifest, which lists no runs yet.
struct WantedFolder {
  std::string path;
  Manifest manifest;
  std::uint64_t most_manifest_bytes = kMostManifestBytes;  // manifest_limit()
};

// Checks, before a sort, that a process with the same memory can read the manifest, also when some
// runs have been added. Throws: Error(kUsage) if it cannot.
void require_readable(const WantedFolder& wanted);

enum class ResumeAccess : std::uint8_t {
  kUse,   // makes the folder if it is missing, with mode 0700, and locks it
  kLook,  // reads the existing files, if any
  kRead,  // reads a folder that others have completed, without a lock; it must exist
};

// The origin of the folder's path. If gsort chose it, a link, or a folder of a user other than this
// one and root, is an error.
enum class ResumePath : bool { kOfUser, kOfGsort };

class ResumeFolder {
 public:
  // Throws: Error(kTemporary) if the folder may not be used, another sort uses it, its manifest is
  // torn, foreign or altered (with the reason), or the manifest is longer than `most_bytes`
  // (manifest_limit).
  ResumeFolder(std::string path, ResumeAccess access, std::uint64_t most_bytes = kMostManifestBytes,
               ResumePath whose = ResumePath::kOfUser);
  // Removes the folder if this process made it and it is empty.
  ~ResumeFolder();
  ResumeFolder(const ResumeFolder&) = delete;
  ResumeFolder& operator=(const ResumeFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether the folder still exists: a sort that uses it may have removed it.
  [[nodiscard]] bool exists() const;

  // The manifest that an unfinished sort has left.
  [[nodiscard]] const std::optional<Manifest>& found() const { return found_; }

  [[nodiscard]] std::uint64_t manifest_bytes() const { return manifest_bytes_; }

  // Begins or continues a sort: makes `manifest` the folder's, opens the file of the runs, and cuts
  // it after the runs of the manifest. Puts into `manifest` whether gsort made the folder.
  // Throws: Error(kTemporary), also when runs are missing.
  void begin(Manifest& manifest);

  // After begin(). The bytes of the file that are in use, at the beginning.
  [[nodiscard]] const File& runs() const { return runs_; }
  [[nodiscard]] std::uint64_t runs_end() const { return runs_end_; }

  // After kRead: opens the file of the runs to be read, all of which are then in it.
  // Throws: Error(kTemporary).
  void open_runs();

  // Replaces the manifest; on return it is on the disk. Throws: Error(kTemporary).
  void save(const Manifest& manifest);

  // The sort is complete: removes the files, and the folder if gsort made it. Other files stay, and
  // the folder with them. Throws: Error(kTemporary), also if a file is not gsort's.
  void remove(Manifest manifest);
  // The same for a folder that gsort made and that no sort may continue. Needs no space.
  void discard();

  // The paths of the files, the manifest first, of a folder at `path`.
  [[nodiscard]] static std::array<std::string, 2> files_of(const std::string& path);

  // The same as words for a hint: other programs may have files beside them.
  [[nodiscard]] static std::string words_for_files_of(const std::string& path);

  // The Error for a folder that does not fit the sort.
  [[nodiscard]] Error refusal(const std::string& reason) const;

 private:
  // The public constructor calls this one first: if it throws later, the destructor still runs.
  ResumeFolder(std::string path, ResumeAccess access, ResumePath whose);
  void make();
  void open();
  void lock();
  // 0 if the open folder has the path, ENOENT if no folder or another one has it, or another errno.
  [[nodiscard]] int problem_with_path() const;
  [[nodiscard]] std::string path_of(const char* name) const;
  [[nodiscard]] File open_file(const char* name, int flags) const;
  void read_manifest(std::uint64_t most_bytes);
  void require_runs() const;
  void remove_file(const char* name) const;
  void sync_folder_above() const;

  std::string path_;
  ResumeAccess access_;
  ResumePath whose_;
  Folder folder_;
  bool is_made_ = false;  // by this process, and nothing is in it
  std::optional<Manifest> found_;
  std::uint64_t manifest_bytes_ = 0;  // of the manifest that was found
  File runs_;
  std::uint64_t runs_end_ = 0;
};

}  // namespace gsort::io
