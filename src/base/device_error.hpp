// DeviceError: a GPU failed, cannot be used, or has too little memory. Code that can work without
// the GPU catches this type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace gsort {

class DeviceError final : public Error {
 public:
  // `ordinal` is none if no device can be used, for example if host memory cannot be pinned.
  DeviceError(std::optional<int> ordinal, Error error)
      : Error(std::move(error)), ordinal_(ordinal) {}

  [[nodiscard]] std::optional<int> ordinal() const noexcept { return ordinal_; }

 private:
  std::optional<int> ordinal_;
};

// The work that was done again without the device, by another one or the CPU.
// kSortWithLess: by the same device, in its free memory.
enum class DoneAgain : std::uint8_t { kSort, kSortWithLess, kChunks, kParts };

struct LostDevice {
  std::optional<int> ordinal;  // none: all of them
  std::string failure;         // "OPERATION on device 1 (NAME): REASON"
  DoneAgain again = DoneAgain::kSort;
};

}  // namespace gsort
