// Turns an argsort into a sort of (key, index) pairs: elements are made of each key and its index,
// sorted as any others, and of the result only the indices are kept.
//
//   keys       30 10 20                       of 32 bits and less: numbers of 64 bits,
//   elements   30:0 10:1 20:2                 the index in the low half
//   sorted     10:1 20:2 30:0                 longer ones: records of the key and the index
//   indices    1 2 0
//
// Keys are ordered as NumPy orders them, not in gsort's total order: every NaN is the greatest key,
// and -0 equals +0. Equal keys keep their order, since indices grow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "element/key.hpp"
#include "io/input/memory_source.hpp"
#include "io/output/output.hpp"
#include "io/system/bytes.hpp"

namespace gsort::python {

class NumberedKeys {
 public:
  // `keys` outlive it, and the indices, of index_bytes() for each key, too.
  NumberedKeys(ConstByteSpan keys, const KeyFormat& format);

  [[nodiscard]] std::uint64_t index_bytes() const { return wide_ ? 8 : 4; }

  // The elements, called `name`; and options that say how to sort them.
  [[nodiscard]] io::MemoryInput input(const std::string& name) const;

  [[nodiscard]] io::MemoryResult result(ByteSpan indices) const;

 private:
  [[nodiscard]] bool are_whole(std::uint64_t offset, std::uint64_t bytes) const;
  void read(ByteSpan to, std::uint64_t at) const;
  template <class Key, class Index>
  void read_elements(ByteSpan to, std::uint64_t first) const;
  void write(ByteSpan indices, std::uint64_t offset, ConstByteSpan elements) const;

  ConstByteSpan keys_;
  KeyFormat format_;
  std::uint64_t count_;
  bool wide_;    // indices of 64 bits
  bool packed_;  // elements are numbers of 64 bits
  std::uint64_t element_bytes_;
};

}  // namespace gsort::python
