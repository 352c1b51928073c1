// See device_bench.hpp.
#include "bench/device_bench.hpp"

#include <algorithm>

namespace gsort::bench {
namespace {

// Room for a second array of keys, and for the samples, cuts and counters of any contender.
std::size_t scratch_for(std::uint64_t bytes) {
  return bytes + bytes / 8 + 64 * kMiB;
}

}  // namespace

template <class Key>
DeviceBench<Key>::DeviceBench(const Request& request, const BenchInput<Key>& input)
    : request_(request),
      input_(input),
      scratch_bytes_(scratch_for(input.elements * sizeof(Key))),
      scratch_(scratch_bytes_),
      output_(input.elements),
      slice_counts_(slices_of(input.elements, input.slices)) {
  if (input_.array_keys == 0) input_.array_keys = std::max<std::uint64_t>(input_.elements, 1);
  const unsigned sets = input_sets(input.elements * sizeof(Key));
  for (unsigned set = 0; set < sets; ++set) {
    const GenSpec spec{input.format, input.distribution, request.seed + set, input.elements};
    ordered_.emplace_back(make_ordered_keys<Key>(spec, request.threads));
    if (input.slices > 1) {
      sort_slices(ordered_.back().get(), slice_counts_, output_.get(), scratch_.as<void>(),
                  scratch_bytes_);
    }
    expected_.push_back(
        check_arrays(ordered_.back().get(), input_.elements, input_.array_keys, KeyMap<Key>()));
    if (input.slices == 1 && !map().is_identity()) {
      raw_.emplace_back(make_raw_keys<Key>(spec, request.threads));
    }
  }
}

template <class Key>
void DeviceBench<Key>::add(const Contender& contender, const std::function<void(unsigned)>& queue,
                           KeyMap<Key> output_map) {
  const RunPlan plan{request_.repeat, static_cast<unsigned>(ordered_.size()), output_.get(),
                     output_.bytes()};
  const TimedRuns runs = time_on_device(plan, queue, [&](unsigned set) {
    const DeviceCheck found =
        check_arrays(output_.get(), input_.elements, input_.array_keys, output_map);
    return found.descents == 0 && found.sum == expected_[set].sum;
  });
  results_.push_back({contender.name, runs.times, input_.elements, 2 * output_.bytes(),
                      runs.verdict, contender.rival, ""});
}

template class DeviceBench<std::uint32_t>;
template class DeviceBench<std::uint64_t>;

}  // namespace gsort::bench
