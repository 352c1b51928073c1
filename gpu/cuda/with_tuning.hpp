// From an architecture known at run time to a tuning known at compile time.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include "gpu/cuda/static_for.hpp"
#include "gpu/cuda/tuning.hpp"

namespace gsort::gpu {

// Calls f(constant) with a std::integral_constant-like object whose value is the tuning for the
// element (see tuning_for) and the architecture. Kernels of equal tunings are compiled once.
template <KernelTuning kValue>
struct TuningConstant {
  static constexpr KernelTuning kTuning = kValue;
};

template <class Element, class F>
void with_tuning(unsigned architecture, F&& f) {
  const KernelTuning wanted = tuning_for<Element>(architecture);
  bool done = false;
  static_for<std::size(kTunings)>([&](auto index) {
    constexpr KernelTuning kTuning =
        tuning_for<Element>(kTunings[decltype(index)::value].architecture);
    if (!done && kTuning == wanted) {
      done = true;
      f(TuningConstant<kTuning>{});
    }
  });
}

// The same with the kernels for small inputs.
template <class Key, class F>
void with_small_tuning(unsigned architecture, F&& f) {
  const KernelTuning wanted = small_tuning_for<Key>(architecture).kernels;
  bool done = false;
  static_for<std::size(kTunings)>([&](auto index) {
    constexpr KernelTuning kTuning =
        small_tuning_for<Key>(kTunings[decltype(index)::value].architecture).kernels;
    if (!done && kTuning == wanted) {
      done = true;
      f(TuningConstant<kTuning>{});
    }
  });
}

// Calls f(constant) with the fan-in, one of kFanIns, as a compile-time constant.
template <class F>
void with_fan_in(std::uint32_t fan_in, F&& f) {
  static_for<std::size(kFanIns)>([&](auto index) {
    constexpr unsigned kFanIn = kFanIns[decltype(index)::value];
    if (fan_in == kFanIn) f(std::integral_constant<unsigned, kFanIn>{});
  });
}

}  // namespace gsort::gpu
