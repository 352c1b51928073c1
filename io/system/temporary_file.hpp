// Files that no other user can see: created without a name if the file system supports it, so that
// even SIGKILL leaves no file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.hpp"
#include "io/system/file.hpp"

namespace gsort::io {

// An open folder, to create files in it and to sync it. All its Errors have the kind that
// open_folder() was given. `readable` is false if the folder may be written but not listed; it
// cannot be synced then.
struct Folder {
  File file;
  bool readable = true;

  // The names in the folder that begin with `prefix`, in order. Throws: Error.
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix) const;
  // Syncs the names in the folder. If the folder cannot be synced, syncs the whole file system of
  // `inside`, an open file in it. Throws: Error.
  void sync_names(const File& inside) const;
};
// Opens the folder at `path`. `more_flags` are for open(2). Throws: Error(kind).
[[nodiscard]] Folder open_folder(const std::string& path, ErrorKind kind, int more_flags = 0);

// A name that the handler of remove_names_on_signals() removes if INT, TERM or HUP ends the program
// while this object lives; a folder is removed with all its files. Move-only. If there are more
// than about a thousand names, the others are not removed.
class RemovedOnSignal {
 public:
  enum class Kind : int { kNone, kTaken, kFile, kFolder };

  RemovedOnSignal() = default;
  // `folder` is the descriptor of the folder that has the name; it outlives this.
  RemovedOnSignal(int folder, const std::string& name, Kind kind = Kind::kFile) noexcept;
  RemovedOnSignal(RemovedOnSignal&& other) noexcept;
  RemovedOnSignal& operator=(RemovedOnSignal&& other) noexcept;
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
  ~RemovedOnSignal();

 private:
  int slot_ = -1;  // none
};

// Installs the handler for these signals, except where they are ignored or have a handler already.
// For programs of gsort: a program that uses the library keeps its own handlers.
void remove_names_on_signals();

// The handler: removes the names, and ends the process by the signal.
extern "C" void remove_names_of_gsort(int signal);

// A new, empty file in `folder` for reading and writing, mode 0600. `name` is empty if the file has
// none; else the file system has no unnamed files, and the file lies in the folder under that
// hidden name.
struct NewFile {
  File file;
  std::string name;
  RemovedOnSignal removed = {};  // the hidden name
};

// A file that link_as() can give a name later, to become `target` in that folder. It is locked
// (flock) while it is open. Messages name it as `path`. Throws: Error of the folder's kind.
[[nodiscard]] NewFile create_linkable(const Folder& folder, const std::string& target,
                                      const std::string& path);

// The same with a hidden name from the start, by which other processes can open it.
[[nodiscard]] NewFile create_hidden(const Folder& folder, const std::string& target,
                                    const std::string& path);

// A file that never gets a name. If the file system has no unnamed files, removes its name at once,
// with signals held back meanwhile.
// Throws: Error of the folder's kind.
[[nodiscard]] File create_unnamed(const Folder& folder, const std::string& path);

// Whether a file or folder with these facts belongs to this user, as files do that this user
// creates in `folder`. A file system may map owners: NFS with root_squash, FAT, CIFS.
[[nodiscard]] bool is_of_this_user(const Folder& folder, const struct stat& facts);

// The mode that open(2) gives a new file in `folder` for `mode`, by the umask and the folder's
// access list; none if the file system has no unnamed files to try it with.
[[nodiscard]] std::optional<mode_t> mode_of_new_file(const Folder& folder, mode_t mode);

// Gives an unnamed file the name `name` in `folder`; returns 0 or an errno (EEXIST: the name is
// taken).
[[nodiscard]] int link_as(const File& file, const Folder& folder, const std::string& name);

// Gives a file of create_linkable() a hidden name, which is put into `name`, on its way to become
// `target`; returns 0 or an errno, and then `name` is empty. A sort that is killed before it can
// rename the file leaves that name, so the first choices are the same for every sort with this
// target: the next one removes them, if they belong to this user and no process holds their lock.
[[nodiscard]] int link_hidden(const File& file, const Folder& folder, const std::string& target,
                              std::string& name);

// Removes these names, if they exist; for sorts that use none themselves.
void remove_left_name(const Folder& folder, const std::string& target);

// Whether `name` is such a temporary name for a target that is itself a hidden file of gsort: the
// target's name, ".new" and a digit from 0 to 3.
[[nodiscard]] bool is_on_its_way(std::string_view name);

// Removes the file if a killed sort of this user left it. The file of a live sort is locked.
void remove_if_left(const Folder& folder, const std::string& name);

// An unused name: `prefix` and 16 hexadecimal digits.
[[nodiscard]] std::string numbered_name(std::string_view prefix);
[[nodiscard]] bool is_numbered_name(std::string_view name, std::string_view prefix);

// The same with the prefix ".gsort-".
[[nodiscard]] std::string hidden_name();

}  // namespace gsort::io
