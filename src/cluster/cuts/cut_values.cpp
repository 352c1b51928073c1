#include "cluster/cuts/cut_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gsort::cluster {
namespace {

// If n elements are at random places, the number of those in a share p of the values differs from
// n p by about sqrt(n p (1 - p)), and by four times that once in 16,000 cases.
double most_off(const CutValues& values, double position) {
  constexpr double kCertain = 4;
  const double elements = std::max(values.up_to - values.before, 1.0);
  const double share = std::clamp((position - values.before) / elements, 0.0, 1.0);
  return kCertain * std::sqrt(elements * share * (1 - share)) + 1;
}

// `count` values from one to another, both included.
void add_evenly(std::vector<std::uint64_t>& all, std::uint64_t from, std::uint64_t to,
                std::uint64_t count) {
  const std::uint64_t width = to - from;
  for (std::uint64_t i = 0; i < count; ++i) {
    all.push_back(from + width / (count - 1) * i + width % (count - 1) * i / (count - 1));
  }
}

void sort_once_each(std::vector<std::uint64_t>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::uint64_t CutValues::likely(double elements) const {
  const double share = (elements - before) / std::max(up_to - before, 1.0);
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(width());
  return place < static_cast<double>(width()) ? least + static_cast<std::uint64_t>(place)
                                              : greatest;
}

std::vector<std::uint64_t> values_to_try(const CutValues& values, std::uint64_t position,
                                         std::uint64_t most, double doubt) {
  std::vector<std::uint64_t> tried;
  const std::uint64_t width = values.width();
  if (width <= most) {
    for (std::uint64_t i = 0; i < width; ++i) tried.push_back(values.least + i);
    return tried;
  }
  const std::uint64_t last = values.greatest - 1;
  const std::uint64_t steps = most / 2 + 1;  // one more than are spread evenly
  for (std::uint64_t i = 1; i < steps; ++i) tried.push_back(values.least + width / steps * i);
  const std::uint64_t pairs = most / 10;
  const auto wanted = static_cast<double>(position);
  const double off = doubt + most_off(values, wanted);
  const std::uint64_t from = std::min(values.likely(wanted - off), last);
  const std::uint64_t to = std::clamp(values.likely(wanted + off), from, last);
  add_evenly(tried, from, to, most - (steps - 1) - 2 * pairs);
  // Each pair divides what is left of the way outwards by the same factor.
  const auto levels = static_cast<unsigned>(std::bit_width(width / (to - from + 1)));
  for (std::uint64_t i = 1; i <= pairs; ++i) {
    const std::uint64_t farther = width >> (levels * i / (pairs + 1));
    tried.push_back(from - std::min(farther, from - values.least));
    tried.push_back(to + std::min(farther, last - to));
  }
  sort_once_each(tried);
  return tried;
}

std::vector<std::uint64_t> values_within(const CutValues& guess, const CutValues& values,
                                         std::uint64_t most) {
  const std::uint64_t last = values.greatest - 1;
  const std::uint64_t from = std::clamp(guess.least, values.least, last);
  const std::uint64_t to = std::clamp(guess.greatest, from, last);
  std::vector<std::uint64_t> within;
  add_evenly(within, from, to, std::max<std::uint64_t>(std::min(most, to - from + 1), 2));
  sort_once_each(within);
  return within;
}

}  // namespace gsort::cluster
