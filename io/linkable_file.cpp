#include "io/linkable_file.hpp"

#include <cerrno>
#include <utility>

#include "io/held_signals.hpp"
#include "io/sys.hpp"

namespace gsort::io {

LinkableFile::LinkableFile(const Folder& folder, std::string target, const std::string& path)
    : folder_(folder),
      target_(std::move(target)),
      new_file_(create_linkable(folder, target_, path)) {}

LinkableFile::~LinkableFile() {
  if (new_file_.name.empty()) return;
  // Twice, for what a signal or a fault may have stopped.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (sys::unlink_at(folder_.file.fd(), new_file_.name.c_str()) == 0) break;
  }
}

// linkat cannot replace a name: a hidden one first, unless the name is free.
void LinkableFile::put_in_place(bool replaces) {
  const HeldSignals held;  // none leaves the hidden name
  if (new_file_.name.empty()) {
    if (!replaces) {
      remove_left_name(folder_, target_);  // somebody may have moved the file it was to replace
      const int taken = link_as(new_file_.file, folder_, target_);
      if (taken == 0) return;
      if (taken != EEXIST) throw failed(taken);
    }
    const int refused = link_hidden(new_file_.file, folder_, target_, new_file_.name);
    if (refused != 0) throw failed(refused);
  }
  int result = 0;
  do {
    result = sys::rename_at(folder_.file.fd(), new_file_.name.c_str(), target_.c_str());
  } while (result != 0 && errno == EINTR);
  if (result != 0) throw failed(errno);
  new_file_.name.clear();
}

Error LinkableFile::failed(int error_number) const {
  return new_file_.file.error("putting in place", error_number);
}

}  // namespace gsort::io
