#include "pipeline/output/parts_sink.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

Error other_count(std::uint64_t announced, std::uint64_t verified) {
  return Error(ErrorKind::kCorrupt, "splitting the output",
               fmt::format("{} elements were announced, but {} verified", format_count(announced),
                           format_count(verified)))
      .hint(kDefectHint);
}

}  // namespace

PartsSink::PartsSink(std::span<io::Output> outputs, const io::WriterOptions& options, Meter* meter)
    : element_bytes_(options.element_bytes), outputs_(outputs), meter_(meter) {
  io::WriterOptions shared = options;
  shared.memory = std::make_shared<io::EncodingMemory>(options.encoders, options.threads);
  for (io::Output& output : outputs) {
    shared.trailer = &output == &outputs.back() ? options.trailer : nullptr;
    parts_.emplace_back(output, shared);
  }
}

void PartsSink::begin(std::optional<std::uint64_t> elements, ConstByteSpan header) {
  if (!is_split()) {
    parts_.front().end = UINT64_MAX;
    return parts_.front().writer.begin(elements, header);
  }
  header_.assign(header.begin(), header.end());
  const std::uint64_t all = elements.value();
  const std::uint64_t share = all / parts_.size();
  std::uint64_t longer = all % parts_.size();
  std::uint64_t next = 0;
  for (Part& part : parts_) {
    part.begin = next;
    next += share + (longer > 0 ? 1 : 0);
    longer -= longer > 0 ? 1 : 0;
    part.end = next;
  }
}

void PartsSink::put(std::uint64_t position, ConstByteSpan elements) {
  if (!is_split()) return put_in(parts_.front(), position, elements);
  auto part = std::ranges::upper_bound(parts_, position, {}, &Part::end);
  // There is no part after the last one: its writer reports an error if it gets too much.
  for (; !elements.empty(); ++part) {
    Part& to = part == parts_.end() ? parts_.back() : *part;
    const std::uint64_t count = elements.size() / element_bytes_;
    const std::uint64_t fits = part == parts_.end() ? count : std::min(count, to.end - position);
    put_in(to, position, elements.first(fits * element_bytes_));
    position += fits;
    elements = elements.subspan(fits * element_bytes_);
    if (part == parts_.end()) return;
  }
}

void PartsSink::put_in(Part& part, std::uint64_t position, ConstByteSpan elements) {
  begin_part(part);
  const std::uint64_t count = elements.size() / element_bytes_;
  {
    Span span(meter_, Stage::kWrite);
    span.add_bytes(elements.size());
    part.writer.put(position - part.begin, elements);
  }
  if (is_split() && part.put.fetch_add(count) + count == part.end - part.begin) finish(part);
}

void PartsSink::begin_part(Part& part) {
  if (!is_split()) return;
  const bool is_first = &part == &parts_.front();
  // Not std::call_once: glibc ends the process if an exception leaves it while memory has run out.
  const std::scoped_lock lock(part.beginning);
  if (part.has_begun) return;
  part.writer.begin(part.end - part.begin, is_first ? ConstByteSpan(header_) : ConstByteSpan());
  part.has_begun = true;
}

void PartsSink::finish(Part& part) {
  const Span span(meter_, Stage::kSync);
  part.writer.finish(part.end - part.begin);
  part.is_finished = true;
}

void PartsSink::abandon() noexcept {
  for (Part& part : parts_) part.writer.cancel();
}

std::uint64_t PartsSink::lost_nan_payloads() const {
  std::uint64_t lost = 0;
  for (const Part& part : parts_) lost += part.writer.lost_nan_payloads();
  return lost;
}

void PartsSink::finish(std::uint64_t elements) {
  is_split() ? finish_all(elements) : parts_.front().writer.finish(elements);
}

void PartsSink::commit(std::uint64_t elements, const std::function<void()>& before_name) {
  finish(elements);
  if (before_name) before_name();
  io::commit_all(outputs_);
}

void PartsSink::finish_all(std::uint64_t elements) {
  if (elements != parts_.back().end) throw other_count(parts_.back().end, elements);
  for (Part& part : parts_) {
    if (part.is_finished) continue;
    begin_part(part);  // a part without elements
    finish(part);
  }
}

}  // namespace gsort
