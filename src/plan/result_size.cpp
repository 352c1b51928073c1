#include "plan/result_size.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace gsort {

std::uint64_t least_elements(const Plan& plan) {
  const std::uint64_t most = std::min(plan.elements, plan.top.value_or(plan.elements));
  return plan.unique ? std::min<std::uint64_t>(most, 1) : most;
}

void refuse_unknown_count(const Plan& plan, const Options& options, const Machine& machine) {
  const bool is_put_while_read = options.merge || options.batch_elements;
  if (!plan.unique && !(is_put_while_read && !machine.input_bytes)) return;
  if (plan.output_form.format != FileFormat::kNpy) return;
  if (machine.output && plan.output_form.codec == Codec::kNone) return;
  throw Error(ErrorKind::kUsage,
              plan.unique ? "writing an array of distinct keys" : "writing an array",
              "the header must give the number of keys, which is not known until all are written")
      .hint("name a file that is not compressed with -o, or write raw keys: --format=npy:bin");
}

}  // namespace gsort
