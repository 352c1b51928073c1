#include "pipeline/output/output_chain.hpp"

#include <algorithm>

namespace gsort {
namespace {

io::WriterOptions writer_options(const Plan& plan) {
  io::WriterOptions options;
  options.form = plan.job.output_form;
  options.key = plan.job.element.key;
  options.element_bytes = plan.job.result_bytes();
  options.counts = plan.job.counts;
  options.dtype = plan.job.dtype;
  options.row_elements = plan.job.row_elements;
  options.windows = plan.output.windows;
  options.frame_elements = plan.output.encode.frame_elements;
  options.threads = plan.threads;
  options.encoders = plan.output.encode.encoders;
  options.proves_encoding = plan.output.encode.is_proven;
  return options;
}

}  // namespace

OutputChain::OutputChain(const Plan& plan, std::span<io::Output> outputs, Proof& proof,
                         Meter* meter)
    : plan_(plan),
      proof_(proof),
      parts_(outputs, writer_options(plan), meter),
      proving_sink_(proof, parts_),
      first_(&proving_sink_) {
  if (plan.job.counts) {
    first_ = &count_sink_.emplace(plan.job.element, plan.job.min_count, proof, parts_);
    return;
  }
  if (plan.job.top)
    first_ = &limit_sink_.emplace(*plan.job.top, plan.element_bytes, proof, *first_);
  // A set operation puts one of each key.
  if (!plan.job.unique || plan.job.set_operation != SetOperation::kNone) return;
  if (plan.job.element.records) {
    first_ = &unique_record_sink_.emplace(*plan.job.element.records, proof, *first_);
  } else {
    first_ = &unique_sink_.emplace(plan.element_bytes, proof, *first_);
  }
}

// Of distinct keys it is known that there are any, if there are keys at all.
PieceSink& OutputChain::begin(std::optional<std::uint64_t> elements, ConstByteSpan header) {
  const std::uint64_t limit = plan_.job.top.value_or(UINT64_MAX);
  const std::uint64_t most = std::min(elements.value_or(UINT64_MAX), limit);
  const bool is_sure_of_one = most == 1 && plan_.job.min_count <= 1;
  const bool is_known = most == 0 || (elements && (is_sure_of_one || !plan_.job.unique));
  parts_.begin(is_known ? std::optional(most) : std::nullopt, header);
  return *first_;
}

PieceSink& OutputChain::begin_unproven(std::optional<std::uint64_t> elements,
                                       ConstByteSpan header) {
  begin(elements, header);
  return parts_;
}

void OutputChain::end() {
  if (count_sink_) count_sink_->end();
}

}  // namespace gsort
