// One of several inputs that are sorted already: read in order, proven to be read, and checked to
// be in order.
#pragma once

#include <cstdint>

#include "io/reader.hpp"
#include "pipeline/proof.hpp"

namespace gsort {

// For one thread. All references outlive it.
class SortedInput {
 public:
  SortedInput(io::Reader& reader, std::size_t input, const KeyFormat& format, Proof& proof,
              Meter* meter)
      : reader_(reader), input_(input), format_(format), proof_(proof), meter_(meter) {}

  // Reads raw keys into `to` and returns their bytes; 0 at the end.
  // Requires: to.size() is at least kLeastRead.
  // Throws: Error(kInput), from reading, and for a key that comes before the one in front of it.
  static constexpr std::size_t kLeastRead = std::size_t{4} << 10;
  std::size_t read(ByteSpan to);

 private:
  void check_order(ConstByteSpan raw_keys);

  io::Reader& reader_;
  std::size_t input_;
  KeyFormat format_;
  Proof& proof_;
  Meter* meter_;
  std::uint64_t elements_ = 0;  // read so far
  std::uint64_t last_ = 0;      // of these, as an ordered number
};

}  // namespace gsort
