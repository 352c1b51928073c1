#include "cluster/input/check.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "app/files.hpp"
#include "cluster/input/same_sort.hpp"
#include "cluster/message.hpp"
#include "cluster/part_table.hpp"
#include "io/input/reader.hpp"
#include "io/system/host_facts.hpp"
#include "pipeline/check_order.hpp"
#include "pipeline/proof/element_order.hpp"
#include "pipeline/survey.hpp"

namespace gsort::cluster {
namespace {

Message to_message(const CheckOutcome& outcome) {
  MessageWriter writer;
  writer.put(outcome.elements);
  writer.put(outcome.distinct);
  writer.put(outcome.fingerprint);
  writer.put(outcome.in_order);
  writer.put(outcome.disorder_element);
  writer.put_text(outcome.value);
  writer.put_text(outcome.value_before);
  return writer.take();
}

CheckOutcome to_outcome(const Message& message) {
  MessageReader reader(message);
  CheckOutcome outcome;
  outcome.elements = reader.take<std::uint64_t>();
  outcome.distinct = reader.take<std::uint64_t>();
  outcome.fingerprint = reader.take<Fingerprint>();
  outcome.in_order = reader.take<bool>();
  outcome.disorder_element = reader.take<std::uint64_t>();
  outcome.value = reader.take_text();
  outcome.value_before = reader.take_text();
  return outcome;
}

// Shares come by rank: the first disorder has the lowest position.
void add_share(CheckOutcome& whole, const CheckOutcome& share) {
  whole.elements += share.elements;
  whole.distinct += share.distinct;
  whole.fingerprint += share.fingerprint;
  if (!whole.in_order || share.in_order) return;
  whole.in_order = false;
  whole.disorder_element = share.disorder_element;
  whole.value = share.value;
  whole.value_before = share.value_before;
}

class ShareCheck {
 public:
  ShareCheck(const Options& options, const Job& job, io::Reader& reader)
      : options_(options),
        format_(job.element),
        wanted_(wanted_order(job)),
        reader_(reader),
        threads_(cores_for(options.parallel)) {}

  // Of elements [begin, end).
  CheckOutcome run(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return {};
    CheckOutcome outcome;
    if (options_.fingerprint) {
      limit(begin, end);
      outcome.fingerprint = fingerprint_of_input(format_, reader_, threads_);
    } else {
      outcome = order_of(begin, end);
    }
    reader_.check_unchanged();
    return outcome;
  }

 private:
  void limit(std::uint64_t begin, std::uint64_t end) {
    reader_.begin_at(begin * format_.bytes());
    reader_.end_at(end * format_.bytes());
  }

  // The last element of the share before is looked at, too, but not counted.
  CheckOutcome order_of(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t overlap = begin > 0 ? 1 : 0;
    limit(begin - overlap, end);
    CheckOutcome outcome = check_order(format_, wanted_, reader_, threads_);
    if (overlap == 0 || !outcome.in_order) return outcome;
    std::vector<std::byte> before(format_.bytes());
    (void)reader_.sample(before, (begin - 1) * format_.bytes(), begin * format_.bytes());
    outcome.fingerprint -= ElementOrder(format_).fingerprint(before);
    outcome.elements -= 1;
    outcome.distinct -= 1;
    return outcome;
  }

  const Options& options_;
  const ElementFormat format_;
  const WantedOrder wanted_;
  io::Reader& reader_;
  const unsigned threads_;
};

}  // namespace

ClusterCheck check_on_cluster(Team& team, const Options& options) {
  refuse_standard_input(options);
  std::optional<io::Reader> opened;
  team.work([&] { opened.emplace(options.inputs, reader_options(options)); });
  io::Reader& reader = *opened;
  ClusterCheck check{{}, job_of(options, reader), {}};
  check.note = note_of_types(options, check.job);
  require_same_sort(team, options, reader, check.job);
  const std::uint64_t elements = *reader.known_size() / check.job.element.bytes();
  const std::uint64_t begin = share_begin(elements, team.rank(), team.count());
  const std::uint64_t end = share_begin(elements, team.rank() + 1, team.count());
  team.work([&] { check.outcome = ShareCheck(options, check.job, reader).run(begin, end); });
  const std::vector<Message> shares = team.gather(to_message(check.outcome));
  if (team.rank() == 0) check.outcome = {};
  for (const Message& share : shares) add_share(check.outcome, to_outcome(share));
  return check;
}

}  // namespace gsort::cluster
