// The emulated devices: what each of them has been asked for. They are stricter than CUDA's:
// memory, streams and events belong to the device that was current when they were made, and are
// used and freed while it is current; all else ends the process with a message. On cards such a
// mistake may go unseen, above all where one card stands for several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace emulator {

inline constexpr int kDevices = 4;
inline constexpr std::size_t kDeviceBytes = std::size_t{4} << 30;

// The use of one device, so far.
struct DeviceUse {
  std::uint64_t objects = 0;  // that there are now: memory, streams, events
  std::size_t bytes = 0;      // of memory
  std::size_t peak_bytes = 0;
  std::uint64_t launches = 0;
  bool is_started = false;  // it was made current, which starts CUDA on it
};

[[nodiscard]] DeviceUse use_of(int device);

// From now on every device, or none, can have access to the memory of others. At first all can.
// Copies between devices name both (cudaMemcpyPeerAsync), and need no access.
void set_peer_access(bool possible);

// From now on the device has so much memory; at first kDeviceBytes. Requires: not yet in use.
void set_device_bytes(int device, std::size_t bytes);

// From now on only the first `count` devices are listed; at first all are.
void set_device_count(int count);

// From now on work that is queued on streams is done late (late_streams.hpp); at first at once.
// Requires: no stream has work.
void set_late_streams(bool late);

// From now on this is called before each copy that a call names as one between host and device,
// with the current device; an empty function ends that. For tests of devices that are not alike: a
// call that waits makes the device slow. Requires: no copy is under way.
void set_copy_hook(
    std::function<void(int device, void* to, const void* from, std::size_t bytes)> hook);

// Does the work now; or late, on the stream of the current device; or, if the calling thread
// captures the stream for a graph, each time that this graph is launched. The work must not queue
// work on another stream, wait for anything, or allocate or free memory of a device.
void queue(const void* stream, std::function<void()> work);

// Forgets peaks, launches and starts.
void restart_counts();

// A kernel begins with these arguments, on the current device.
void count_launch();
void require_own(const void* memory, const char* call);
template <class Argument>
void require_own_argument(const Argument& /*argument*/) {}
template <class T>
void require_own_argument(T* const& argument) {
  require_own(argument, "launching a kernel");
}

}  // namespace emulator
