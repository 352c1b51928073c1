// Rights: the owner, access list and mode that the file of an output gets, whichever class writes
// it. If possible, they are those of the file that it replaces, or those that open(2) gives a new
// file. If the group or the list cannot be set, its users get no more rights than all others.
#pragma once

#include <optional>

#include <sys/stat.h>
#include <sys/types.h>

#include "io/output/output_place.hpp"
#include "io/system/access_list.hpp"

namespace gsort::io {

class OutputRights {
 public:
  // `replaced`: the regular file at the place, if there is one. `mask`: that of the modes of new
  // files. Throws: Error(kOutput).
  OutputRights(const OutputPlace& place, const std::optional<struct stat>& replaced, mode_t mask);

  // Sets the rights of a file of mode 0600 that was made in the folder. Throws: Error of the file's
  // kind.
  void give_to(const File& file) const;

  // The mode of a new file, if the folder's list cannot be read.
  [[nodiscard]] std::optional<mode_t> mode_without_list() const;

 private:
  void set(const File& file, mode_t mode, const AccessList& list) const;

  std::optional<struct stat> replaced_;
  mode_t mode_of_new_;
  // None: they cannot be read.
  std::optional<AccessList> list_of_folder_;  // inherited by new files in it
  std::optional<AccessList> list_of_replaced_;
};

}  // namespace gsort::io
