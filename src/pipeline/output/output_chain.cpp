#include "pipeline/output/output_chain.hpp"

#include <algorithm>

namespace gsort {

io::WriterOptions writer_options(const Plan& plan, std::size_t result_bytes) {
  io::WriterOptions options;
  options.form = plan.job.output_form;
  options.key = plan.job.result_key();
  if (plan.job.numbered) options.key.type = result_bytes == 4 ? KeyType::kU32 : KeyType::kU64;
  options.element_bytes = result_bytes;
  options.counts = plan.job.counts;
  options.dtype = plan.job.dtype;
  options.row_elements = plan.job.row_elements;
  options.empty_rows = plan.job.empty_rows;
  options.windows = plan.output.windows;
  options.frame_elements = plan.output.encode.frame_elements;
  options.threads = plan.threads;
  options.encoders = plan.output.encode.encoders;
  options.proves_encoding = plan.output.encode.is_proven;
  return options;
}

OutputChain::OutputChain(const Plan& plan, std::span<io::Output> outputs, Proof& proof,
                         Meter* meter)
    : plan_(plan), outputs_(outputs), proof_(proof), meter_(meter) {}

// From the last sink to the first. How wide positions are is known with the number of elements.
void OutputChain::build(std::optional<std::uint64_t> elements) {
  const Job& job = plan_.job;
  const std::size_t result_bytes =
      job.numbered && elements ? index_bytes_for(*elements) : job.result_bytes();
  PartsSink& parts = parts_.emplace(outputs_, writer_options(plan_, result_bytes), meter_);
  if (job.counts) {
    first_ = &count_sink_.emplace(job.element, job.min_count, proof_, parts);
    return;
  }
  first_ = &parts;
  if (job.numbered) first_ = &index_sink_.emplace(job.numbering(), result_bytes, parts);
  first_ = &proving_sink_.emplace(proof_, *first_);
  if (job.top) first_ = &limit_sink_.emplace(*job.top, plan_.element_bytes, proof_, *first_);
  // A set operation puts one of each key.
  if (!job.unique || job.set_operation != SetOperation::kNone) return;
  if (job.element.records) {
    first_ = &unique_record_sink_.emplace(*job.element.records, proof_, *first_);
  } else {
    first_ = &unique_sink_.emplace(job.element.key, proof_, *first_);
  }
}

// The number of distinct keys is unknown, but it is not 0 if there are keys.
PieceSink& OutputChain::begin(std::optional<std::uint64_t> elements, ConstByteSpan header) {
  build(elements);
  const std::uint64_t limit = plan_.job.top.value_or(UINT64_MAX);
  const std::uint64_t most = std::min(elements.value_or(UINT64_MAX), limit);
  const bool is_sure_of_one = most == 1 && plan_.job.min_count <= 1;
  const bool is_known = most == 0 || (elements && (is_sure_of_one || !plan_.job.unique));
  parts_->begin(is_known ? std::optional(most) : std::nullopt,
                plan_.job.numbered ? ConstByteSpan() : header);
  return *first_;
}

PieceSink& OutputChain::begin_unproven(std::optional<std::uint64_t> elements,
                                       ConstByteSpan header) {
  begin(elements, header);
  return *parts_;
}

void OutputChain::end() {
  if (count_sink_) count_sink_->end();
}

}  // namespace gsort
