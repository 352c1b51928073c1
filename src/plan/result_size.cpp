#include "plan/result_size.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace gsort {

std::uint64_t least_elements(const Job& job, std::uint64_t elements) {
  if (job.compares_inputs()) return 0;
  if (job.min_count > 1) return 0;
  elements = job.part_elements.value_or(elements);
  const std::uint64_t most = std::min(elements, job.top.value_or(elements));
  return job.is_distinct() ? std::min<std::uint64_t>(most, 1) : most;
}

void refuse_unknown_count(const Job& job, const Machine& machine) {
  const bool is_put_while_read = job.merged_inputs > 0 || job.array_elements > 0;
  if (job.output_parts > 1 && is_put_while_read && !machine.input_bytes) {
    throw Error(ErrorKind::kUsage, "splitting the output",
                "the number of elements is not known until all are written")
        .hint(
            "give -m and --batch-elements files that are neither text nor compressed, or write "
            "one output and split it in a second run");
  }
  if (!job.is_distinct() && !(is_put_while_read && !machine.input_bytes)) return;
  if (!has_header(job.output_form.format)) return;
  if (machine.output && job.output_form.codec == Codec::kNone) return;
  throw Error(ErrorKind::kUsage,
              job.is_distinct() ? "writing an array of distinct keys" : "writing an array",
              "the header must give the number of keys, which is not known until all are written")
      .hint(
          "name an output file that is not compressed, or write raw keys: --format=IN:bin, where "
          "IN is "
          "the format of the FILEs");
}

}  // namespace gsort
