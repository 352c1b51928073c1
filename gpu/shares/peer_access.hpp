// Access of devices to each other's memory, which makes copies between them direct. Without it the
// driver copies through host memory, by the same calls.
#pragma once

#include <span>

namespace gsort::gpu {

// Gives each of the devices access to the memory of all others that it can reach. May be called
// again, and after others have done the same. Changes the current device.
// Throws: DeviceError when a device cannot be asked or used.
void allow_peer_access(std::span<const int> ordinals);

}  // namespace gsort::gpu
