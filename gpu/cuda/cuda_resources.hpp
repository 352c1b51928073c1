// CUDA objects that free themselves: streams, events, device memory, pinned host memory. All are
// made and freed with the device current that was current when they were made; calls are checked
// (cuda_check.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <utility>

#include <cuda_runtime_api.h>

#include "engine/engine.hpp"

namespace gsort::gpu {

// Makes `ordinal` the calling thread's device. Every thread starts with device 0, so each call of
// an engine that may come from a new thread begins with this.
void use_device(int ordinal);

// The same for destructors of what owns CUDA objects, called first: the objects are freed where
// they were made. A failure is no error there.
void return_to_device(int ordinal) noexcept;

// Makes `ordinal` the calling thread's device for the lifetime of this object. A thread that had no
// device has none afterwards: cudaSetDevice(0) would start CUDA on device 0.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  int ordinal_;
};

// Runs work that selects devices in a thread of its own, so that the caller's device stays the
// same. If the system gives no thread, the caller runs the work, and its device may change.
template <class Work>
void keep_device_during(const Work& work) {
  std::async(std::launch::async | std::launch::deferred, work).get();
}

class Stream {
 public:
  Stream();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream();
  [[nodiscard]] cudaStream_t get() const { return stream_; }

  // Waits until the stream has done all its work. `operation` names it in an Error.
  void wait(const char* operation) const;

 private:
  cudaStream_t stream_ = nullptr;
};

// Work that is queued on `second` from now on begins when all work on `first` so far is done.
// Both are streams of the current device.
void order_streams(cudaStream_t first, cudaStream_t second, const char* operation);

// Waiting for an event gives the core to others.
class Event {
 public:
  Event();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event();
  [[nodiscard]] cudaEvent_t get() const { return event_; }
  void record(const Stream& stream) const;
  void wait(const char* operation) const;

 private:
  cudaEvent_t event_ = nullptr;
};

class DeviceMemory {
 public:
  DeviceMemory() = default;
  // Throws: Error(kResource) naming what is needed and what is free.
  explicit DeviceMemory(std::uint64_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  template <class T = void>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

// Host memory that the device copies from and to directly while this object lives. The pages are
// touched by `threads` cores first: registering touched huge pages is many times faster than
// allocating pinned ones.
class PinnedMemory {
 public:
  // Throws: Error(kResource).
  PinnedMemory(ByteSpan memory, unsigned threads);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

 private:
  ByteSpan memory_;
};

}  // namespace gsort::gpu
