// Normalised keys in words of eight bytes, for host and device: makes one word of a record.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "element/key.hpp"

namespace gsort {

// A number of at most eight bytes: a key, or a stretch of a key of bytes.
struct KeyNumber {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  bool swaps_bytes = false;
  KeyFold fold = KeyFold::kNone;
  bool folds_classes = false;  // for floats in numeric order
  std::uint64_t nans = 0;      // of one sign; 0 in total order
  std::uint64_t flip = 0;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned bits() const { return 8 * bytes; }

  // Its value as an ordered number.
  [[nodiscard]] GSORT_HOST_DEVICE std::uint64_t read(const std::byte* record) const {
    std::uint64_t raw = load(record + offset);
    if (swaps_bytes) raw = swap_bytes(raw) >> (64 - bits());
    std::uint64_t number = fold_number(fold, raw, bits() - 1);
    if (nans != 0) number = (number - nans) & (~std::uint64_t{0} >> (64 - bits()));
    if (folds_classes) number = class_of_number(number, nans, bits() - 1);
    return number ^ flip;
  }

 private:
  // Little endian, from any address.
  [[nodiscard]] GSORT_HOST_DEVICE std::uint64_t load(const std::byte* from) const {
#ifdef __CUDA_ARCH__
    std::uint64_t raw = 0;
    for (std::uint32_t i = 0; i < bytes; ++i) {
      raw |= static_cast<std::uint64_t>(from[i]) << (8 * i);
    }
    return raw;
#else
    std::uint64_t raw = 0;
    if (bytes == 8) {  // the usual widths without a loop
      __builtin_memcpy(&raw, from, 8);
    } else if (bytes == 4) {
      __builtin_memcpy(&raw, from, 4);
    } else {
      __builtin_memcpy(&raw, from, bytes);
    }
    return raw;
#endif
  }
};

// Eight bytes of a normalised key as one number: the numbers of the keys, each shifted to its
// place. Kernels take it by value.
struct RecordWord {
  static constexpr unsigned kMostNumbers = 8;

  KeyNumber numbers[kMostNumbers];
  std::int8_t shifts[kMostNumbers] = {};  // to the left; negative: the number ends in the next word
  unsigned count = 0;

  [[nodiscard]] GSORT_HOST_DEVICE std::uint64_t of(const std::byte* record) const {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint64_t value = numbers[i].read(record);
      word |= shifts[i] >= 0 ? value << shifts[i] : value >> -shifts[i];
    }
    return word;
  }
};

}  // namespace gsort
