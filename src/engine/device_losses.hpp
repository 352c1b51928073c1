// DeviceLosses: the devices that failed in a sort that can continue without them, and the work that
// was repeated for that reason.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "base/device_error.hpp"

namespace gsort {

// Thread-safe.
class DeviceLosses {
 public:
  // Keeps the first failure of each device and the work that was repeated. If that is the whole
  // sort, work that was repeated before does not count.
  void add(const DeviceError& failure, DoneAgain again);

  // The failure of the device; after it, the device is used only to release its resources.
  [[nodiscard]] std::optional<DeviceError> loss_of(std::optional<int> ordinal) const;

  [[nodiscard]] std::vector<LostDevice> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<DeviceError> lost_;
  std::vector<LostDevice> all_;
};

}  // namespace gsort
