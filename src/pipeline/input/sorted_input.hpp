// One of several inputs that are sorted already: it is read in order, added to the proof, and
// checked to be in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "element/element.hpp"
#include "io/input/reader.hpp"
#include "pipeline/proof/element_order.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// For one thread. All references outlive it. Elements that are longer than those of `format` are
// keys with their counts.
class SortedInput {
 public:
  SortedInput(io::Reader& reader, std::size_t input, const ElementFormat& format,
              const ElementOrder& order, Proof& proof, Meter* meter)
      : reader_(reader),
        input_(input),
        format_(format),
        order_(order),
        proof_(proof),
        meter_(meter) {}

  // Reads elements into `to` and returns their bytes; 0 at the end.
  // Requires: to.size() is at least kLeastRead, and an element.
  // Throws: Error(kInput) if reading fails, an element is out of order, a count is 0, or a key
  // repeats with another count.
  static constexpr std::size_t kLeastRead = std::size_t{4} << 10;
  std::size_t read(ByteSpan to);

 private:
  [[nodiscard]] bool has_counts() const { return order_.element_bytes() > format_.bytes(); }
  [[nodiscard]] Error not_sorted(std::uint64_t element, const std::byte* before,
                                 const std::byte* value) const;
  void check_order(ConstByteSpan elements);
  void add_counted(ConstByteSpan pairs);

  io::Reader& reader_;
  std::size_t input_;
  const ElementFormat& format_;
  const ElementOrder& order_;
  Proof& proof_;
  Meter* meter_;
  std::uint64_t elements_ = 0;   // read so far
  std::vector<std::byte> last_;  // of these, if there are any
};

}  // namespace gsort
