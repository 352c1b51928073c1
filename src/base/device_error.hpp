// DeviceError: a GPU failed, cannot be used, or has too little memory. Who can do without it
// catches the error by this type.
#pragma once

#include <optional>
#include <utility>

#include "base/error.hpp"

namespace gsort {

class DeviceError final : public Error {
 public:
  // `ordinal` is none if no device can be used, as where host memory cannot be pinned.
  DeviceError(std::optional<int> ordinal, Error error)
      : Error(std::move(error)), ordinal_(ordinal) {}

  [[nodiscard]] std::optional<int> ordinal() const noexcept { return ordinal_; }

 private:
  std::optional<int> ordinal_;
};

}  // namespace gsort
