// Facts about a device and the code that it runs. Shapes of kernels, numbers of blocks and the
// overlap of launches depend on them. Host code.
#pragma once

namespace gsort::gpu {

// 10 * major + minor of the current device. Throws: Error(kDevice).
[[nodiscard]] unsigned current_architecture();

// For the current device: how many blocks run at once if each fills a multiprocessor, how many
// threads run at once, and how much shared memory a block can have. Throws: Error(kDevice).
[[nodiscard]] unsigned multiprocessors();
[[nodiscard]] unsigned resident_threads();
[[nodiscard]] unsigned shared_bytes_of_block();

// The architecture for which the code that the current device runs was compiled. It is lower than
// the device's if kernels were compiled only for older ones. CUDA is asked once per device. Throws:
// Error(kDevice).
[[nodiscard]] unsigned compiled_architecture();

}  // namespace gsort::gpu
