#include "cluster/proof_message.hpp"

namespace gsort {

template <cluster::Is<OrderLedger<std::string>::Stretch> Any, class Visit>
void visit_fields(Any& stretch, Visit& visit) {
  visit(stretch.end, stretch.first, stretch.last);
}

template <cluster::Is<ProofSummary> Any, class Visit>
void visit_fields(Any& summary, Visit& visit) {
  visit(summary.enabled, summary.input, summary.output, summary.repeats, summary.left_out,
        summary.least_left_out, summary.stretches);
}

}  // namespace gsort

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
  return message_of(summary);
}

ProofSummary to_summary(const Message& message) {
  auto summary = value_in<ProofSummary>(message);
  for (const auto& [begin, stretch] : summary.stretches) {
    if (stretch.end < begin) throw_malformed();
  }
  return summary;
}

}  // namespace gsort::cluster
