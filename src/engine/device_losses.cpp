#include "engine/device_losses.hpp"

#include <algorithm>

namespace gsort {

void DeviceLosses::add(const DeviceError& failure, DoneAgain again) {
  const std::scoped_lock lock(mutex_);
  // With too little memory, other calls may succeed.
  if (failure.ordinal() && failure.kind() != ErrorKind::kResource) {
    lost_.push_back(failure);
  }
  const auto is_of_chunks = [](DoneAgain done) {
    return done == DoneAgain::kChunks || done == DoneAgain::kParts;
  };
  if (!is_of_chunks(again)) {
    std::erase_if(all_, [&](const LostDevice& loss) { return is_of_chunks(loss.again); });
  }
  const bool is_known = std::ranges::any_of(all_, [&](const LostDevice& loss) {
    return loss.ordinal == failure.ordinal() && loss.again == again;
  });
  if (is_known) return;
  const std::string path = failure.path().empty() ? "" : " " + failure.path();
  all_.push_back({failure.ordinal(), failure.operation() + path + ": " + failure.reason(), again});
}

std::optional<DeviceError> DeviceLosses::loss_of(std::optional<int> ordinal) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(lost_, ordinal, &DeviceError::ordinal);
  return found == lost_.end() ? std::nullopt : std::optional(*found);
}

std::vector<LostDevice> DeviceLosses::all() const {
  const std::scoped_lock lock(mutex_);
  return all_;
}

}  // namespace gsort
