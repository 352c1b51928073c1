// WrittenPlaces: which bytes of a file have been written. A File notes here what the kernel has
// just taken, at the offset that the kernel was told (file.hpp). So whatever cuts, joins, buffers
// or moves pieces on their way to the file may be wrong: a byte that is left out, put twice or put
// elsewhere is found before the file is made real.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/tiling.hpp"

namespace gsort::io {

// Thread-safe.
class WrittenPlaces {
 public:
  // Returns false if any of [offset, offset + bytes) has been written before.
  [[nodiscard]] bool add(std::uint64_t offset, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    return places_.add(offset, offset + bytes);
  }

  // Whether all of [0, bytes), and nothing behind it, has been written.
  [[nodiscard]] bool covers(std::uint64_t bytes) const {
    const std::scoped_lock lock(mutex_);
    return places_.covers(bytes);
  }

  // Where others write the rest of the file. `path` is what the message calls it, `lost` what has
  // become of what was written. Throws: Error(kCorrupt) unless [begin, end), and nothing else, has
  // been written.
  void require_only(std::uint64_t begin, std::uint64_t end, const std::string& path,
                    std::string_view lost) {
    if (add(0, begin) && covers(end)) return;
    throw Error(ErrorKind::kCorrupt, "verifying what was written to",
                "data is missing, or lies elsewhere")
        .path(path)
        .hint(fmt::format("this is a bug in gsort, please report it; {}", lost));
  }

  // The offset of the first byte that has not been written.
  [[nodiscard]] std::uint64_t first_gap() const {
    const std::scoped_lock lock(mutex_);
    return places_.first_gap();
  }

 private:
  mutable std::mutex mutex_;
  Tiling places_;
};

}  // namespace gsort::io
