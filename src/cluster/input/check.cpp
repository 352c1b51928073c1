#include "cluster/input/check.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/files.hpp"
#include "cluster/input/same_sort.hpp"
#include "cluster/message.hpp"
#include "element/record_text.hpp"
#include "io/input/reader.hpp"
#include "pipeline/check_order.hpp"
#include "pipeline/proof/element_order.hpp"
#include "pipeline/share/share_range.hpp"

namespace gsort::cluster {
namespace {

// The result of a process for its share. Borders are empty where they are not compared: shares of
// one input that all read overlap instead, and a fingerprint does not depend on the order.
struct ShareOutcome {
  CheckOutcome found;
  std::vector<std::byte> first;
  std::vector<std::byte> last;
};

template <Is<ShareOutcome> Share, class Visit>
void visit_fields(Share& share, Visit& visit) {
  auto& found = share.found;
  visit(found.elements, found.distinct, found.fingerprint, found.in_order, found.disorder_element,
        found.value, found.value_before, share.first, share.last);
}

// Joins what processes have found in their shares, by rank: the first disorder has the lowest
// position.
class WholeCheck {
 public:
  WholeCheck(const Job& job, bool has_own_inputs)
      : format_(job.element),
        order_(format_),
        is_strict_(job.is_distinct()),
        has_own_inputs_(has_own_inputs) {}

  void add(const ShareOutcome& share) {
    if (whole_.in_order && !last_.empty() && !share.first.empty()) compare(share.first);
    if (whole_.in_order && !share.found.in_order) {
      // Positions in an input of its own begin anew.
      note(share.found.disorder_element + (has_own_inputs_ ? whole_.elements : 0),
           share.found.value_before, share.found.value);
    }
    whole_.elements += share.found.elements;
    whole_.distinct += share.found.distinct;
    whole_.fingerprint += share.found.fingerprint;
    if (!share.last.empty()) last_ = share.last;
  }

  [[nodiscard]] const CheckOutcome& whole() const { return whole_; }

 private:
  void note(std::uint64_t element, std::string before, std::string value) {
    whole_.in_order = false;
    whole_.disorder_element = element;
    whole_.value_before = std::move(before);
    whole_.value = std::move(value);
  }

  // The last element of the inputs before, and the first one of the next.
  void compare(const std::vector<std::byte>& first) {
    const int order = order_.compare(last_.data(), first.data());
    if (order > 0 || (order == 0 && is_strict_)) {
      note(whole_.elements, text_of_keys(format_, last_.data()),
           text_of_keys(format_, first.data()));
    }
    if (order_.records() ? last_ == first : order == 0) --whole_.distinct;
  }

  const ElementFormat format_;
  const ElementOrder order_;
  const bool is_strict_;
  const bool has_own_inputs_;
  CheckOutcome whole_;
  std::vector<std::byte> last_;
};

// Checks the elements of the range. With --inputs-here, keeps the first and the last one, which are
// compared with those of other shares.
ShareOutcome check_share(const Request& request, const Job& job, io::Reader& reader,
                         const OutputRange& range) {
  const std::uint64_t bytes = job.element.bytes();
  const auto element = [&](std::uint64_t position) {
    std::vector<std::byte> read(bytes);
    (void)reader.sample(read, position * bytes, (position + 1) * bytes);
    return read;
  };
  const auto limit_to = [&](std::uint64_t begin) {
    reader.begin_at(begin * bytes);
    reader.end_at(range.end * bytes);
  };
  ShareOutcome share;
  if (range.elements() > 0 && request.fingerprint) {
    limit_to(range.begin);
    share.found.fingerprint = fingerprint_of_input(job, reader);
  } else if (range.elements() > 0) {
    // The last element of the share before is compared, too, but not counted.
    const std::uint64_t overlap = range.begin > 0 ? 1 : 0;
    limit_to(range.begin - overlap);
    share.found = check_order(job, reader);
    if (overlap > 0 && share.found.in_order) {
      share.found.fingerprint -= ElementOrder(job.element).fingerprint(element(range.begin - 1));
      share.found.elements -= 1;
      share.found.distinct -= 1;
    }
    if (request.inputs_here) {
      share.first = element(range.begin);
      share.last = element(range.end - 1);
    }
  }
  reader.check_unchanged();  // also after these elements were read
  return share;
}

}  // namespace

ClusterCheck check_on_cluster(Team& team, const Options& options) {
  const Request& request = request_of(options);
  std::optional<io::Reader> opened;
  ClusterCheck check;
  check.job = open_same_inputs(team, options, opened, check.note);
  io::Reader& reader = *opened;
  const std::uint64_t elements = *reader.known_size() / check.job.element.bytes();
  const bool has_own_inputs = request.inputs_here;
  const OutputRange mine =
      has_own_inputs ? OutputRange{0, elements} : share_of(elements, team.rank(), team.count());
  ShareOutcome own;
  team.work([&] { own = check_share(request, check.job, reader, mine); });
  check.outcome = own.found;
  WholeCheck whole(check.job, has_own_inputs);
  for (const Message& share : team.gather(message_of(own))) {
    whole.add(value_in<ShareOutcome>(share));
  }
  if (team.rank() == 0) check.outcome = whole.whole();
  return check;
}

}  // namespace gsort::cluster
