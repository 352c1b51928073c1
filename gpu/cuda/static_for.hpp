// static_for<N>(f): calls f(0), f(1) ... f(N-1), each number a compile-time constant. Arrays that f
// indexes with it stay in registers on the device, which a loop does not promise.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/host_device.hpp"

namespace gsort::gpu {

template <class F, std::size_t... kIndices>
GSORT_HOST_DEVICE constexpr void static_for_each(F& f, std::index_sequence<kIndices...>) {
  (f(std::integral_constant<std::size_t, kIndices>{}), ...);
}

template <std::size_t kCount, class F>
GSORT_HOST_DEVICE constexpr void static_for(F&& f) {
  static_for_each(f, std::make_index_sequence<kCount>{});
}

}  // namespace gsort::gpu
