#include "cluster/output/left_out.hpp"

#include "base/parallel.hpp"
#include "cluster/output/raw_elements.hpp"

namespace gsort::cluster {
namespace {

void prove_end_of(const io::Run& run, std::uint64_t begin, const ElementFormat& format,
                  ByteSpan scratch, Proof& proof, Meter* meter) {
  const std::uint64_t end = run.elements();
  while (begin < end) {
    const ConstByteSpan elements = load_frame(run, begin, end, format, scratch, meter);
    proof.add_left_out(elements);
    begin += elements.size() / format.bytes();
  }
}

}  // namespace

void prove_left_out(std::span<const io::Run> runs, const Cuts& cuts, const ElementFormat& format,
                    std::span<const ByteSpan> scratch, Proof& proof, Meter* meter) {
  if (!proof.enabled()) {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      proof.add_left_out({runs[run].elements() - cuts[run]}, UInt128{0});
    }
    return;
  }
  const auto workers = static_cast<unsigned>(scratch.size());
  for_each_number(workers, runs.size(), [&](unsigned worker, std::size_t run) {
    prove_end_of(runs[run], cuts[run], format, scratch[worker], proof, meter);
  });
}

}  // namespace gsort::cluster
