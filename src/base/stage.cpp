#include "base/stage.hpp"

#include <array>

namespace gsort {
namespace {

constexpr std::array<std::string_view, kStages> kStageNames = {
    "read",  "partition", "sort",    "spill",    "load", "merge",
    "prove", "write",     "copy in", "copy out", "sync"};

constexpr std::array<std::string_view, kPhases> kPhaseNames = {"read", "merge", "merge", "write",
                                                               "sync"};

}  // namespace

std::string_view name_of(Stage stage) {
  return kStageNames.at(static_cast<std::size_t>(stage));
}

std::string_view name_of(Phase phase) {
  return kPhaseNames.at(static_cast<std::size_t>(phase));
}

}  // namespace gsort
