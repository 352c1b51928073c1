// What code a device runs: shapes of kernels and the overlap of launches depend on it. Host code.
#pragma once

namespace gsort::gpu {

// 10 * major + minor of the current device. Throws: Error(kDevice).
[[nodiscard]] unsigned current_architecture();

// The same of the code that the current device runs: less than the device's own where kernels were
// compiled for older ones alone. Asked for once a device. Throws: Error(kDevice).
[[nodiscard]] unsigned compiled_architecture();

}  // namespace gsort::gpu
