// Times sorts over several GPUs, beside plain copies over the same links: keys in pinned host
// memory, their indices, and keys spread over the memories of the GPUs, on the first of the GPUs,
// the first two, and so on. Every output is checked for order and by its sum. Prints one JSON
// object.
// Usage: bench_shares u32|u64 LOG2_KEYS ROUNDS ORDINAL...
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nlohmann/json.hpp>

#include "base/parallel.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/shares/host_shares.hpp"
#include "gpu/shares/peer_access.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "io/system/memory.hpp"

namespace gsort::bench {
namespace {

using Json = nlohmann::ordered_json;

unsigned threads() {
  return std::max(1U, std::thread::hardware_concurrency());
}

// Calls work(begin, end) for as many stretches of [0, count) as there are cores.
void on_all_cores(std::uint64_t count,
                  const std::function<void(std::uint64_t, std::uint64_t)>& work) {
  const unsigned workers = threads();
  run_workers(workers, [&](unsigned worker) {
    work(count * worker / workers, count * (worker + 1) / workers);
  });
}

std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

template <class Key>
void make_keys(std::span<Key> keys) {
  on_all_cores(keys.size(), [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) keys[i] = static_cast<Key>(mixed(i));
  });
}

template <class Key>
std::uint64_t sum_of(std::span<const Key> keys) {
  std::atomic<std::uint64_t> sum{0};
  on_all_cores(keys.size(), [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0;
    for (std::uint64_t i = begin; i < end; ++i) own += mixed(keys[i]);
    sum += own;
  });
  return sum;
}

template <class Key>
bool is_sorted(std::span<const Key> keys) {
  std::atomic<bool> sorted{true};
  on_all_cores(keys.size(), [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = std::max<std::uint64_t>(begin, 1); i < end; ++i) {
      if (keys[i] < keys[i - 1]) sorted = false;
    }
  });
  return sorted;
}

// Memory of a device, and a stream there; both end where they were made.
class OnDevice {
 public:
  OnDevice(int ordinal, std::uint64_t bytes) : ordinal_(ordinal) {
    gpu::use_device(ordinal);
    memory_.emplace(bytes);
    stream_.emplace();
  }
  OnDevice(OnDevice&&) noexcept = default;
  OnDevice& operator=(OnDevice&&) = delete;
  ~OnDevice() { gpu::return_to_device(ordinal_); }

  [[nodiscard]] std::byte* get() const { return memory_->as<std::byte>(); }
  void copy(void* to, const void* from, std::uint64_t bytes) const {
    gpu::use_device(ordinal_);
    gpu::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_->get()),
                    gpu::CudaCall::kCopy, "copying");
  }
  void copy_to_peer(const OnDevice& to, std::uint64_t to_offset, std::uint64_t bytes) const {
    gpu::use_device(ordinal_);
    gpu::check_cuda(cudaMemcpyPeerAsync(to.get() + to_offset, to.ordinal_, get(), ordinal_, bytes,
                                        stream_->get()),
                    gpu::CudaCall::kCopy, "copying between devices");
  }
  void wait() const {
    gpu::use_device(ordinal_);
    stream_->wait("copying");
  }

 private:
  int ordinal_;
  std::optional<gpu::DeviceMemory> memory_;
  std::optional<gpu::Stream> stream_;
};

// The median of the rounds, in seconds, after one that is not counted; `prepare` is not timed.
double seconds_of(int rounds, const std::function<void()>& prepare,
                  const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    prepare();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (round > 0) times.push_back(taken.count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// The part of `count` keys that a device has.
struct Share {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

std::vector<Share> shares_of(std::uint64_t count, std::size_t devices) {
  std::vector<Share> shares;
  for (std::size_t i = 0; i < devices; ++i) {
    const std::uint64_t begin = count * i / devices;
    shares.push_back({begin, count * (i + 1) / devices - begin});
  }
  return shares;
}

template <class Key>
class SharesBench {
 public:
  SharesBench(std::uint64_t count, int rounds)
      : count_(count),
        rounds_(rounds),
        memory_(2 * count * sizeof(Key), "keys in host memory"),
        pinned_(memory_.bytes(), threads()),
        input_(reinterpret_cast<Key*>(memory_.data()), count),
        output_(input_.data() + count, count) {
    make_keys(input_);
    sum_ = sum_of<Key>(input_);
  }

  // Groups as gsort-bench has them, so that gsort-plot draws them over `devices`.
  void measure(std::span<const int> ordinals, Json& groups) {
    const Contender copies{"copies there and back", copy_there_and_back(ordinals)};
    const Contender host{"gsort", host_keys(ordinals), verdict()};
    groups.push_back(group("sort_host_keys", ordinals, {host, copies}));
    if (count_ - 1 <= std::numeric_limits<Key>::max()) {
      const Contender indices{"gsort", host_indices(ordinals), verdict_on_indices()};
      groups.push_back(group("argsort_host_keys", ordinals, {indices, copies}));
    }
    std::vector<Contender> spread = {{"gsort", spread_keys(ordinals), verdict()}};
    if (ordinals.size() > 1) {
      spread.push_back({"copies between the devices", exchange(ordinals)});
    }
    groups.push_back(group("sort_device_shares", ordinals, spread));
  }

 private:
  struct Contender {
    std::string name;
    double seconds = 0;
    std::string verified = "verified";  // copies are not checked
  };

  [[nodiscard]] std::uint64_t bytes() const { return count_ * sizeof(Key); }

  [[nodiscard]] std::string verdict() const {
    return is_sorted<Key>(output_) && sum_of<Key>(output_) == sum_ ? "verified" : "wrong";
  }

  // For indices of the size of keys: equal keys keep their order, so each index occurs once.
  [[nodiscard]] std::string verdict_on_indices() const {
    std::atomic<bool> sorted{true};
    on_all_cores(count_, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = std::max<std::uint64_t>(begin, 1); i < end; ++i) {
        const Key before = output_[i - 1];
        const Key index = output_[i];
        const bool in_range = before < count_ && index < count_;
        if (!in_range || std::pair(input_[before], before) >= std::pair(input_[index], index)) {
          sorted = false;
        }
      }
    });
    return sorted ? "verified" : "wrong";
  }

  [[nodiscard]] Json group(const char* subcommand, std::span<const int> ordinals,
                           const std::vector<Contender>& contenders) const {
    Json results = Json::array();
    for (const Contender& contender : contenders) {
      const double rate = static_cast<double>(count_) / contender.seconds;
      results.push_back({{"contender", contender.name},
                         {"median_ms", contender.seconds * 1e3},
                         {"gkeys_per_s", rate / 1e9},
                         {"verified", contender.verified}});
    }
    return {{"subcommand", subcommand},
            {"type", sizeof(Key) == 4 ? "u32" : "u64"},
            {"distribution", "uniform"},
            {"elements", count_},
            {"devices", ordinals.size()},
            {"ordinals", Json(std::vector<int>(ordinals.begin(), ordinals.end()))},
            {"results", results}};
  }

  void poison() { std::memset(output_.data(), 0xa5, bytes()); }

  // Copies everything to the devices, then everything back, on all links at once.
  double copy_there_and_back(std::span<const int> ordinals) {
    const auto shares = shares_of(count_, ordinals.size());
    std::vector<OnDevice> devices;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      devices.emplace_back(ordinals[i], shares[i].count * sizeof(Key));
    }
    return seconds_of(
        rounds_, [] {},
        [&] {
          for (std::size_t i = 0; i < shares.size(); ++i) {
            const std::uint64_t size = shares[i].count * sizeof(Key);
            devices[i].copy(devices[i].get(), input_.data() + shares[i].begin, size);
            devices[i].copy(output_.data() + shares[i].begin, devices[i].get(), size);
          }
          for (const OnDevice& device : devices) device.wait();
        });
  }

  using SharingDevices = std::span<const gpu::SharingDevice>;

  // With this many bytes of scratch memory on each device.
  double host_sort(std::span<const int> ordinals, std::size_t size,
                   const std::function<void(SharingDevices)>& sort) {
    std::vector<OnDevice> scratch;
    std::vector<gpu::SharingDevice> devices;
    for (const int ordinal : ordinals) {
      scratch.emplace_back(ordinal, size);
      devices.push_back({ordinal, {scratch.back().get(), size}});
    }
    return seconds_of(
        rounds_, [this] { poison(); }, [&] { sort(devices); });
  }

  double host_keys(std::span<const int> ordinals) {
    const auto number = static_cast<std::uint32_t>(ordinals.size());
    return host_sort(
        ordinals, gpu::sort_host_shares_scratch_bytes<Key>(count_, number),
        [this](SharingDevices devices) {
          gpu::sort_host_shares<Key>({input_.data(), output_.data(), count_, {}}, devices);
        });
  }

  double host_indices(std::span<const int> ordinals) {
    const auto number = static_cast<std::uint32_t>(ordinals.size());
    return host_sort(ordinals, gpu::sort_host_pairs_scratch_bytes<Key, Key>(count_, number),
                     [this](SharingDevices devices) {
                       gpu::sort_host_pairs<Key, Key>({.input = {input_.data(), nullptr},
                                                       .output = {nullptr, output_.data()},
                                                       .count = count_,
                                                       .takes_numbers = true},
                                                      devices);
                     });
  }

  // Each device sends an equal part of its keys to every other one, all at once: as many bytes as a
  // sort of random keys moves.
  double exchange(std::span<const int> ordinals) {
    const std::uint64_t part = bytes() / (ordinals.size() * ordinals.size());
    gpu::allow_peer_access(ordinals);
    std::vector<OnDevice> from;
    std::vector<OnDevice> to;
    for (const int ordinal : ordinals) {
      from.emplace_back(ordinal, part);
      to.emplace_back(ordinal, part * ordinals.size());
    }
    return seconds_of(
        rounds_, [] {},
        [&] {
          for (std::size_t turn = 1; turn < ordinals.size(); ++turn) {
            for (std::size_t i = 0; i < ordinals.size(); ++i) {
              from[i].copy_to_peer(to[(i + turn) % ordinals.size()], i * part, part);
            }
          }
          for (const OnDevice& device : from) device.wait();
        });
  }

  double spread_keys(std::span<const int> ordinals) {
    const auto parts = shares_of(count_, ordinals.size());
    const auto number = static_cast<std::uint32_t>(parts.size());
    std::vector<OnDevice> keys;
    std::vector<OnDevice> scratch;
    std::vector<gpu::DeviceShare<Key>> shares;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t size = gpu::sort_shares_scratch_bytes<Key>(parts[i].count, number);
      keys.emplace_back(ordinals[i], parts[i].count * sizeof(Key));
      scratch.emplace_back(ordinals[i], size);
      shares.push_back({ordinals[i],
                        reinterpret_cast<Key*>(keys[i].get()),
                        parts[i].count,
                        {scratch[i].get(), size}});
    }
    const auto copy_all = [&](bool in) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::uint64_t size = parts[i].count * sizeof(Key);
        Key* const host = (in ? input_ : output_).data() + parts[i].begin;
        in ? keys[i].copy(keys[i].get(), host, size) : keys[i].copy(host, keys[i].get(), size);
      }
      for (const OnDevice& device : keys) device.wait();
    };
    poison();
    const double seconds = seconds_of(
        rounds_, [&] { copy_all(true); }, [&] { gpu::sort_shares<Key>(shares, KeyMap<Key>{}); });
    copy_all(false);
    return seconds;
  }

  std::uint64_t count_;
  int rounds_;
  io::Arena memory_;
  gpu::PinnedMemory pinned_;
  std::span<Key> input_;
  std::span<Key> output_;
  std::uint64_t sum_ = 0;
};

template <class Key>
Json bench(std::uint64_t count, int rounds, const std::vector<int>& ordinals) {
  gpu::use_device(ordinals.front());
  SharesBench<Key> bench(count, rounds);
  Json groups = Json::array();
  for (std::size_t devices = 1; devices <= ordinals.size(); ++devices) {
    bench.measure(std::span(ordinals).first(devices), groups);
  }
  gpu::return_to_device(ordinals.front());
  return groups;
}

bool all_verified(const Json& groups) {
  return std::ranges::all_of(groups, [](const Json& group) {
    return std::ranges::all_of(group["results"],
                               [](const Json& result) { return result["verified"] == "verified"; });
  });
}

int run(std::span<char*> arguments) {
  if (arguments.size() < 5) {
    std::fputs("usage: bench_shares u32|u64 LOG2_KEYS ROUNDS ORDINAL...\n", stderr);
    return 2;
  }
  const std::string type = arguments[1];
  const std::uint64_t count = std::uint64_t{1} << std::clamp(std::atoi(arguments[2]), 0, 34);
  const int rounds = std::max(1, std::atoi(arguments[3]));
  std::vector<int> ordinals;
  for (const char* const ordinal : arguments.subspan(4)) ordinals.push_back(std::atoi(ordinal));
  const Json groups = type == "u64" ? bench<std::uint64_t>(count, rounds, ordinals)
                                    : bench<std::uint32_t>(count, rounds, ordinals);
  std::puts(Json({{"groups", groups}}).dump().c_str());
  return all_verified(groups) ? 0 : 1;
}

}  // namespace
}  // namespace gsort::bench

int main(int argc, char** argv) {
  try {
    return gsort::bench::run({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_shares: %s\n", error.what());
    return 2;
  }
}
