#include "pipeline/output/output_chain.hpp"

#include <algorithm>

namespace gsort {
namespace {

io::WriterOptions element_options(const Job& job, std::size_t result_bytes) {
  io::WriterOptions options;
  options.form = job.output_form;
  options.key = job.result_key();
  if (job.argsort) options.key.type = result_bytes == 4 ? KeyType::kU32 : KeyType::kU64;
  options.element_bytes = result_bytes;
  options.counts = job.count;
  static_cast<StoredShape&>(options) = job;
  if (job.argsort) options.columns = 0;
  return options;
}

}  // namespace

std::vector<std::byte> header_of_output(const Job& job, std::uint64_t elements) {
  if (!has_header(job.output_form.format)) return {};
  return io::header_of(element_options(job, job.result_bytes()), elements);
}

io::WriterOptions writer_options(const Plan& plan, std::size_t result_bytes) {
  io::WriterOptions options = element_options(plan.job, result_bytes);
  options.windows = plan.output.windows;
  static_cast<Encoding&>(options) = plan.output.encode;
  options.threads = plan.threads;
  return options;
}

std::size_t OutputChain::result_bytes(std::optional<std::uint64_t> elements) const {
  const Job& job = plan_.job;
  return job.argsort && elements ? index_bytes_for(*elements) : job.result_bytes();
}

PieceSink& OutputChain::begin(std::optional<std::uint64_t> elements, ConstByteSpan header,
                              std::uint64_t first) {
  PieceSink& parts = begin_unproven(elements, header);
  const ResultRange range{.begin = first, .index_bytes = result_bytes(elements)};
  return result_.emplace(plan_.job, proof_, parts, range).sink();
}

// The number of distinct keys is unknown, but it is not 0 if there are keys.
PieceSink& OutputChain::begin_unproven(std::optional<std::uint64_t> elements,
                                       ConstByteSpan header) {
  const Job& job = plan_.job;
  const std::uint64_t most = std::min(elements.value_or(UINT64_MAX), job.top.value_or(UINT64_MAX));
  const bool is_sure_of_one = most == 1 && job.min_count <= 1;
  const bool is_known = most == 0 || (elements && (is_sure_of_one || !job.is_distinct()));
  io::WriterOptions options = writer_options(plan_, result_bytes(elements));
  options.trailer = trailer_;
  parts_.emplace(outputs_, options, meter_)
      .begin(is_known ? std::optional(most) : std::nullopt, job.argsort ? ConstByteSpan() : header);
  return *parts_;
}

}  // namespace gsort
