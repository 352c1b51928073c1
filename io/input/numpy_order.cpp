#include "io/input/numpy_order.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "form/equal_floats.hpp"

namespace gsort::io {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;  // stays in the cache

}  // namespace

MemoryInput in_numpy_order(MemoryInput array) {
  const KeyFormat format = array.array.key.value();
  array.array.key = KeyFormat{format.type};
  array.array.dtype.reset();
  array.read = [read = std::move(array.read), format, name = array.name](ByteSpan to,
                                                                         std::uint64_t at) {
    std::vector<std::byte> keys(std::min(to.size(), kPieceBytes));
    while (!to.empty()) {
      const ByteSpan piece = ByteSpan(keys).first(std::min(to.size(), keys.size()));
      read(piece, at);
      copy_for_numpy(piece, format, to.data());
      const std::size_t other = first_other_for_numpy(piece, format, to.data());
      if (other != piece.size() / bytes_of(format.type)) {
        throw Error(ErrorKind::kCorrupt,
                    fmt::format("reading element {}", at / bytes_of(format.type) + other),
                    "its copy is another key")
            .path(name)
            .hint("memory may be faulty; sort again");
      }
      to = to.subspan(piece.size());
      at += piece.size();
    }
  };
  return array;
}

}  // namespace gsort::io
