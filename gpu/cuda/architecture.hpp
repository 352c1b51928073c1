// What a device is, and what code it runs: shapes of kernels, their numbers of blocks and the
// overlap of launches depend on it. Host code.
#pragma once

namespace gsort::gpu {

// 10 * major + minor of the current device. Throws: Error(kDevice).
[[nodiscard]] unsigned current_architecture();

// Of the current device: how many blocks run at once if each fills a multiprocessor, how many
// threads do, and how much shared memory a block can have. Throws: Error(kDevice).
[[nodiscard]] unsigned multiprocessors();
[[nodiscard]] unsigned resident_threads();
[[nodiscard]] unsigned shared_bytes_of_block();

// As current_architecture(), of the code that the current device runs: less than the device's own
// where kernels were compiled for older ones alone. Asked for once a device. Throws:
// Error(kDevice).
[[nodiscard]] unsigned compiled_architecture();

}  // namespace gsort::gpu
