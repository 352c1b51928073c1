// Phrases that several reports use.
#pragma once

#include <string>
#include <string_view>

#include "element/element.hpp"
#include "options/job.hpp"
#include "plan/plan.hpp"

namespace gsort {

// "i32", "records of 100 bytes"
[[nodiscard]] std::string element_words(const ElementFormat& element);

// "i32, little endian, ascending (the type is the default)"
[[nodiscard]] std::string key_words(const Job& job);

// The part of the sorted keys that is written: "one of each key"; empty if all of it.
[[nodiscard]] std::string result_words(const Plan& plan);

// "device 0 (NVIDIA H100), device 1 (NVIDIA H100)"; empty if the CPU sorts.
[[nodiscard]] std::string device_words(const Plan& plan);

// "cpu, 2 threads (as asked)"
[[nodiscard]] std::string engine_words(const Plan& plan);

[[nodiscard]] std::string_view strategy_name(const Plan& plan);

}  // namespace gsort
