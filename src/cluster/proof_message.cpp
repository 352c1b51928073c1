#include "cluster/proof_message.hpp"

namespace gsort::cluster {

ProofSummary moved(ProofSummary summary, std::uint64_t begin) {
  OrderLedger<std::string>::Stretches stretches;
  for (auto& [first, stretch] : summary.stretches) {
    stretch.end += begin;
    stretches.emplace(first + begin, std::move(stretch));
  }
  summary.stretches = std::move(stretches);
  return summary;
}

Message to_message(const ProofSummary& summary) {
  MessageWriter writer;
  writer.put(summary.enabled);
  for (const Fingerprint* const sums :
       {&summary.input, &summary.output, &summary.repeats, &summary.left_out}) {
    writer.put(*sums);
  }
  writer.put(summary.least_left_out.has_value());
  writer.put_text(summary.least_left_out.value_or(""));
  writer.put<std::uint64_t>(summary.stretches.size());
  for (const auto& [begin, stretch] : summary.stretches) {
    writer.put(begin);
    writer.put(stretch.end);
    writer.put_text(stretch.first);
    writer.put_text(stretch.last);
  }
  return writer.take();
}

ProofSummary to_summary(const Message& message) {
  MessageReader reader(message);
  ProofSummary summary;
  summary.enabled = reader.take<bool>();
  for (Fingerprint* const sums :
       {&summary.input, &summary.output, &summary.repeats, &summary.left_out}) {
    *sums = reader.take<Fingerprint>();
  }
  const bool has_left_out = reader.take<bool>();
  std::string least = reader.take_text();
  if (has_left_out) summary.least_left_out = std::move(least);
  for (auto left = reader.take<std::uint64_t>(); left > 0; --left) {
    const auto begin = reader.take<std::uint64_t>();
    const auto end = reader.take<std::uint64_t>();
    if (end < begin) throw_malformed();
    std::string first = reader.take_text();
    std::string last = reader.take_text();
    summary.stretches.emplace(
        begin, OrderLedger<std::string>::Stretch{end, std::move(first), std::move(last)});
  }
  return summary;
}

}  // namespace gsort::cluster
