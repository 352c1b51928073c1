#include "cuda_runtime.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "devices.hpp"
#include "late_streams.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's

struct CUstream_st {};
struct CudaEvent {
  emulator::Flag done;
};
struct CudaGraph {
  std::vector<std::function<void()>> steps;
};

namespace {

constexpr std::size_t kAlignment = 256;  // of cudaMalloc

thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::atomic<bool> has_peers{true};
std::atomic<bool> is_late{false};
std::function<void(int, void*, const void*, std::size_t)> copy_hook;
std::atomic<int> device_count{emulator::kDevices};
std::array<std::atomic<std::size_t>, emulator::kDevices> device_bytes = {
    emulator::kDeviceBytes, emulator::kDeviceBytes, emulator::kDeviceBytes, emulator::kDeviceBytes};

std::size_t bytes_of(int device) {
  return device_bytes[static_cast<std::size_t>(device)];
}

// An object that was made, and where.
struct Object {
  int device = 0;
  std::size_t bytes = 0;   // from its address on
  bool is_memory = false;  // that is counted
};

[[noreturn]] void misused(const char* call, const char* how) {
  std::fprintf(stderr, "emulator: %s on device %d: %s\n", call, current, how);
  std::abort();
}

// Thread-safe.
class Objects {
 public:
  void add(const void* at, std::size_t bytes, bool is_memory) {
    const std::scoped_lock lock(mutex_);
    objects_[at] = {current, bytes, is_memory};
    emulator::DeviceUse& use = uses_[static_cast<std::size_t>(current)];
    ++use.objects;
    if (!is_memory) return;
    use.bytes += bytes;
    use.peak_bytes = max(use.peak_bytes, use.bytes);
  }

  void remove(const void* at, const char* call) {
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(at);
    if (found == objects_.end()) misused(call, "there is no such object");
    if (found->second.device != current) misused(call, "it was made on another device");
    emulator::DeviceUse& use = uses_[static_cast<std::size_t>(current)];
    --use.objects;
    if (found->second.is_memory) use.bytes -= found->second.bytes;
    objects_.erase(found);
  }

  // Memory of the host, and the stream that every device has, are anybody's.
  void require_own(const void* address, const char* call) {
    if (device_of(address) != current) misused(call, "what it works on is another device's");
  }

  // The current one if it is no device's.
  int device_of(const void* address) {
    const std::scoped_lock lock(mutex_);
    const auto behind = objects_.upper_bound(address);
    if (behind == objects_.begin()) return current;
    const auto& [begin, object] = *std::prev(behind);
    const auto offset =
        static_cast<const std::byte*>(address) - static_cast<const std::byte*>(begin);
    return static_cast<std::size_t>(offset) < object.bytes ? object.device : current;
  }

  emulator::DeviceUse use_of(int device) {
    const std::scoped_lock lock(mutex_);
    return uses_[static_cast<std::size_t>(device)];
  }
  void start(int device) {
    const std::scoped_lock lock(mutex_);
    uses_[device].is_started = true;
  }
  void restart_counts() {
    const std::scoped_lock lock(mutex_);
    for (emulator::DeviceUse& use : uses_) {
      use.peak_bytes = use.bytes;
      use.launches = 0;
      use.is_started = false;
    }
  }
  // Returns false if it has been allowed before.
  bool allow_peer(int peer) {
    const std::scoped_lock lock(mutex_);
    bool& allowed = peers_[static_cast<std::size_t>(current)][static_cast<std::size_t>(peer)];
    return !std::exchange(allowed, true);
  }
  void count_launch() {
    const std::scoped_lock lock(mutex_);
    ++uses_[static_cast<std::size_t>(current)].launches;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, Object> objects_;
  std::array<emulator::DeviceUse, emulator::kDevices> uses_{};
  std::array<std::array<bool, emulator::kDevices>, emulator::kDevices> peers_{};
};

// The capture of the calling thread, if any.
struct Capture {
  const void* stream = nullptr;
  CudaGraph graph;
};
thread_local Capture capture;

void require_no_capture(const char* call) {
  if (capture.stream != nullptr) misused(call, "a stream is being captured");
}

// Never destroyed: what frees at exit finds it.
Objects& objects() {
  static auto* const all = new Objects;
  return *all;
}

// The streams of the current device; never destroyed, either.
emulator::LateStreams& streams() {
  static auto* const all = new std::array<emulator::LateStreams, emulator::kDevices>;
  return (*all)[static_cast<std::size_t>(current)];
}

template <class T>
cudaError_t make(T** made) {
  *made = new T;
  objects().add(*made, sizeof(T), false);
  return cudaSuccess;
}

template <class T>
cudaError_t destroy(T* made, const char* call) {
  objects().remove(made, call);
  delete made;
  return cudaSuccess;
}

}  // namespace

namespace emulator {

DeviceUse use_of(int device) {
  return objects().use_of(device);
}
void set_peer_access(bool possible) {
  has_peers = possible;
}
void set_device_bytes(int device, std::size_t bytes) {
  device_bytes[static_cast<std::size_t>(device)] = bytes;
}
void set_device_count(int count) {
  device_count = count;
}
void set_late_streams(bool late) {
  is_late = late;
}
void set_copy_hook(
    std::function<void(int device, void* to, const void* from, std::size_t bytes)> hook) {
  copy_hook = std::move(hook);
}
void queue(const void* stream, std::function<void()> work) {
  if (stream != nullptr && stream == capture.stream) {
    return capture.graph.steps.push_back(std::move(work));
  }
  require_no_capture("queueing work on another stream");
  if (!is_late || stream == nullptr) return work();
  streams().add(stream, std::move(work));
}
void restart_counts() {
  objects().restart_counts();
}
void count_launch() {
  objects().count_launch();
}
cudaError_t fail(cudaError_t error) {
  return last_error = error;
}
void require_own(const void* memory, const char* call) {
  objects().require_own(memory, call);
}

}  // namespace emulator

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    default:
      return "unspecified launch failure";
  }
}

// Only failed launches and allocations are remembered.
cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count;
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= emulator::kDevices) return cudaErrorInvalidValue;
  current = device;
  objects().start(device);
  return cudaSuccess;
}

// Contexts are the numbers of their devices.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                             unsigned /*version*/, unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* found) {
  thread_local std::vector<int> pushed;
  const auto retain = [](std::intptr_t* context, int device) { return *context = device, 0; };
  const auto release = [](int /*device*/) { return 0; };
  const auto push = [](std::intptr_t context) {
    pushed.push_back(current);
    return static_cast<int>(cudaSetDevice(static_cast<int>(context)));
  };
  const auto pop = [](std::intptr_t* /*context*/) {
    return current = pushed.back(), pushed.pop_back(), 0;
  };
  const std::map<std::string_view, void*> functions = {
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(+retain)},
      {"cuDevicePrimaryCtxRelease", reinterpret_cast<void*>(+release)},
      {"cuCtxPushCurrent", reinterpret_cast<void*>(+push)},
      {"cuCtxPopCurrent", reinterpret_cast<void*>(+pop)}};
  *function = functions.at(name);
  *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::snprintf(properties->name, sizeof(properties->name), "emulated %d", device);
  properties->totalGlobalMem = bytes_of(device);
  properties->major = 9;
  properties->minor = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* address, int bytes, int device) {
  std::snprintf(address, static_cast<std::size_t>(bytes), "0000:%02X:00.0", 0xA0 + device);
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {cudaMemoryTypeDevice, objects().device_of(pointer)};
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  require_no_capture("waiting for a device");
  streams().finish_all();
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  return make(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  emulator::require_own(stream, "waiting for a stream");
  require_no_capture("waiting for a stream");
  streams().finish(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) {
  emulator::require_own(stream, "ordering streams");
  emulator::require_own(event, "ordering streams");
  require_no_capture("ordering streams");
  streams().add_wait(stream, event->done);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  streams().forget(stream);
  return destroy(stream, "destroying a stream");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  return make(event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  emulator::require_own(event, "recording an event");
  emulator::require_own(stream, "recording an event");
  require_no_capture("recording an event");
  if (is_late) event->done = streams().record(stream);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  emulator::require_own(event, "waiting for an event");
  require_no_capture("waiting for an event");
  streams().finish(event->done);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return destroy(event, "destroying an event");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  emulator::require_own(stream, "capturing a stream");
  require_no_capture("capturing a stream");
  capture.stream = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (stream != capture.stream) return cudaErrorInvalidValue;
  *graph = new CudaGraph(std::exchange(capture, {}).graph);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned /*flags*/) {
  *made = new CudaGraph(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  emulator::require_own(stream, "launching a graph");
  for (const auto& step : graph->steps) emulator::queue(stream, step);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  require_no_capture("allocating memory");
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (whole > bytes_of(current) - emulator::use_of(current).bytes) {
    return emulator::fail(cudaErrorMemoryAllocation);
  }
  *memory = std::aligned_alloc(kAlignment, whole);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  objects().add(*memory, whole, true);
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  require_no_capture("freeing memory");
  streams().finish_all();
  objects().remove(memory, "freeing memory");
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): of cudaMalloc
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t /*stream*/) {
  return cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t /*stream*/) {
  return cudaFree(memory);
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  *memory = bytes == 0 ? nullptr : std::aligned_alloc(kAlignment, whole);
  return bytes > 0 && *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): of cudaMallocHost
  return cudaSuccess;
}

// Registered memory is portable: every device uses it, but one has made it so.
cudaError_t cudaHostRegister(void* memory, std::size_t /*bytes*/, unsigned /*flags*/) {
  objects().add(memory, 0, false);
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* memory) {
  objects().remove(memory, "unregistering memory");
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = bytes_of(current) - emulator::use_of(current).bytes;
  *total = bytes_of(current);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  emulator::require_own(stream, "setting memory");
  emulator::require_own(memory, "setting memory");
  if (bytes > 0) emulator::queue(stream, [=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  emulator::require_own(stream, "copying memory");
  emulator::require_own(to, "copying memory");
  emulator::require_own(from, "copying memory");
  const bool is_of_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost;
  if (copy_hook && is_of_host) copy_hook(current, to, from, bytes);
  if (bytes > 0) emulator::queue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  emulator::require_own(stream, "copying between devices");
  if (bytes == 0) return cudaSuccess;
  if (objects().device_of(to) != to_device || objects().device_of(from) != from_device) {
    misused("copying between devices", "the memory is not on the devices that were named");
  }
  emulator::queue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = has_peers && device != peer ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
  if (!has_peers || peer == current) misused("enabling peer access", "there is none");
  return objects().allow_peer(peer) ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
}

// NOLINTEND(readability-identifier-naming)
