#include "cluster/output/element_before.hpp"

#include "cluster/message.hpp"
#include "cluster/output/raw_elements.hpp"
#include "pipeline/proof/element_order.hpp"

namespace gsort::cluster {
namespace {

// The last elements in front of the range of each process; empty where there is none.
class LastElements {
 public:
  LastElements(const ElementFormat& format, unsigned ranks)
      : order_(format), format_(format), last_(ranks) {}

  void add(unsigned rank, ConstByteSpan element) {
    std::vector<std::byte>& last = last_[rank];
    if (element.empty()) return;
    if (!last.empty() && order_.compare(last.data(), element.data()) >= 0) return;
    last.assign(element.begin(), element.end());
  }

  void add_of_run(const io::Run& run, std::uint64_t cut, unsigned rank, ByteSpan scratch) {
    if (cut == 0) return;
    std::vector<std::byte> element(format_.bytes());
    read_raw(run, cut - 1, cut, format_, element, scratch);
    add(rank, element);
  }

  void add_all_of(ConstByteSpan message) {
    const auto others = value_in<decltype(last_)>(message);
    if (others.size() != last_.size()) throw_malformed();
    for (unsigned rank = 0; rank < last_.size(); ++rank) add(rank, others[rank]);
  }

  [[nodiscard]] Message to_message() const { return message_of(last_); }

  [[nodiscard]] const std::vector<std::byte>& of(unsigned rank) const { return last_[rank]; }

 private:
  const ElementOrder order_;
  const ElementFormat& format_;
  std::vector<std::vector<std::byte>> last_;
};

}  // namespace

std::vector<std::byte> element_before(Team& team, std::span<const io::Run> runs,
                                      const PartTable& parts, std::span<const Cuts> cuts,
                                      const ElementFormat& format, ByteSpan scratch) {
  LastElements own(format, parts.ranks());
  team.work([&] {
    for (unsigned rank = 0; rank < parts.ranks(); ++rank) {
      const Cuts& border = cuts[parts.first(rank)];
      for (std::size_t run = 0; run < runs.size(); ++run) {
        own.add_of_run(runs[run], border[run], rank, scratch);
      }
    }
  });
  const auto join = [&](Message& some, ConstByteSpan others) {
    LastElements last(format, parts.ranks());
    last.add_all_of(some);
    last.add_all_of(others);
    some = last.to_message();
  };
  LastElements known(format, parts.ranks());
  known.add_all_of(team.broadcast(team.join(own.to_message(), join)));
  return known.of(team.rank());
}

}  // namespace gsort::cluster
