#include "cluster/cuts/assign_shares.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "cluster/message.hpp"

namespace gsort::cluster {
namespace {

using Count = std::int64_t;
constexpr Count kNever = std::numeric_limits<Count>::max();
constexpr unsigned kNone = ~0U;
constexpr Count kSlackOfAShare = 128;
constexpr unsigned kMostProcesses = 2048;  // of a matrix of 32 MiB

// From a process to all shares: how long each path is, and which share comes before its last one.
struct Paths {
  explicit Paths(unsigned shares)
      : lengths(shares, kNever), before(shares, kNone), is_final(shares, 0) {}
  std::vector<Count> lengths;
  std::vector<unsigned> before;
  std::vector<char> is_final;
  unsigned end = kNone;  // the share that was free
};

// Adds `process` to the matching. `step(length, process, share)` returns the new length when a path
// of `length` to a process continues to a share. After the first step, it is at least `length`.
template <class Step>
Paths add_to_matching(std::vector<unsigned>& process_of, unsigned process, const Step& step) {
  const auto shares = static_cast<unsigned>(process_of.size());
  Paths paths(shares);
  unsigned last = kNone;
  Count length = 0;
  for (unsigned at = process; at != kNone; at = process_of[last]) {
    unsigned nearest = kNone;
    for (unsigned share = 0; share < shares; ++share) {
      if (paths.is_final[share] != 0) continue;
      const Count longer = step(length, at, share);
      if (longer < paths.lengths[share]) {
        paths.lengths[share] = longer;
        paths.before[share] = last;
      }
      if (nearest == kNone || paths.lengths[share] < paths.lengths[nearest] ||
          (paths.lengths[share] == paths.lengths[nearest] && process_of[share] == kNone)) {
        nearest = share;
      }
    }
    last = nearest;
    length = paths.lengths[last];
    paths.is_final[last] = 1;
  }
  paths.end = last;
  for (unsigned share = last; share != kNone; share = paths.before[share]) {
    const unsigned before = paths.before[share];
    process_of[share] = before == kNone ? process : process_of[before];
  }
  return paths;
}

class Assignment {
 public:
  Assignment(std::span<const std::uint64_t> there, unsigned n) : there_(there), n_(n), all_(n) {
    Count total = 0;
    for (unsigned process = 0; process < n; ++process) {
      for (unsigned share = 0; share < n; ++share) all_[process] += there_of(process, share);
      total += all_[process];
    }
    slack_ = total / std::max<Count>(n, 1) / kSlackOfAShare;
  }

  [[nodiscard]] std::vector<unsigned> shares() const {
    std::vector<unsigned> shares(n_);
    const std::vector<unsigned> process_of = with_least_sum(least_greatest() + slack_);
    for (unsigned share = 0; share < n_; ++share) shares[process_of[share]] = share;
    return shares;
  }

 private:
  [[nodiscard]] Count there_of(unsigned process, unsigned share) const {
    return static_cast<Count>(there_[std::size_t{process} * n_ + share]);
  }
  [[nodiscard]] Count sent(unsigned process, unsigned share) const {
    return all_[process] - there_of(process, share);
  }
  // The elements that are sent, minus all elements of the process, whose number does not depend on
  // the share. So sums over distinct pairs stay below the number of all elements.
  [[nodiscard]] Count cost(unsigned process, unsigned share) const {
    return (process == share ? 0 : slack_ + 1) - there_of(process, share);
  }

  [[nodiscard]] Count least_greatest() const {
    std::vector<unsigned> process_of(n_, kNone);
    Count greatest = 0;
    for (unsigned process = 0; process < n_; ++process) {
      const Paths paths =
          add_to_matching(process_of, process, [&](Count length, unsigned at, unsigned share) {
            return std::max({length, sent(at, share), greatest});
          });
      greatest = paths.lengths[paths.end];
    }
    return greatest;
  }

  // Invariant: the cost minus the potentials of both ends is at least 0 for each allowed step of a
  // matched process, and 0 for the step to its own share.
  [[nodiscard]] std::vector<unsigned> with_least_sum(Count most) const {
    std::vector<unsigned> process_of(n_, kNone);
    std::vector<Count> of_process(n_);
    std::vector<Count> of_share(n_);
    for (unsigned process = 0; process < n_; ++process) {
      const Paths paths =
          add_to_matching(process_of, process, [&](Count length, unsigned at, unsigned share) {
            if (sent(at, share) > most) return kNever;
            return length + cost(at, share) - of_process[at] - of_share[share];
          });
      for (unsigned share = 0; share < n_; ++share) {
        if (paths.is_final[share] == 0) continue;
        of_share[share] += paths.lengths[share] - paths.lengths[paths.end];
        of_process[process_of[share]] = cost(process_of[share], share) - of_share[share];
      }
    }
    return process_of;
  }

  std::span<const std::uint64_t> there_;
  const unsigned n_;
  std::vector<Count> all_;  // of each process
  Count slack_ = 0;
};

// Throws unless all processes together have the whole of each share.
void require_whole_shares(const PartTable& parts, std::span<const std::uint64_t> there) {
  const unsigned n = parts.ranks();
  for (unsigned share = 0; share < n; ++share) {
    std::uint64_t all = 0;
    for (std::size_t at = share; at < there.size(); at += n) all = capped_sum(all, there[at]);
    if (all != parts.end_of(share) - parts.begin_of(share)) throw_malformed();
  }
}

void require_each_once(std::vector<unsigned> shares) {
  std::ranges::sort(shares);
  for (unsigned i = 0; i < shares.size(); ++i) {
    if (shares[i] != i) throw_malformed();
  }
}

}  // namespace

std::vector<unsigned> assign_shares(std::span<const std::uint64_t> there, unsigned n) {
  return Assignment(there, n).shares();
}

void assign_shares(Team& team, PartTable& parts, std::span<const Cuts> cuts) {
  const unsigned n = team.count();
  if (n > kMostProcesses) return;
  std::vector<std::uint64_t> own(n);
  for (unsigned share = 0; share < n; ++share) {
    const Cuts& begin = cuts[parts.first(share)];
    const Cuts& end = cuts[parts.first(share) + parts.parts(share)];
    for (std::size_t run = 0; run < begin.size(); ++run) own[share] += end[run] - begin[run];
  }
  std::vector<std::uint64_t> there;  // in the room that is planned for frames
  for (const Message& of_process : team.gather(std::as_bytes(std::span(own)))) {
    MessageReader reader(of_process);
    for (unsigned share = 0; share < n; ++share) there.push_back(reader.take<std::uint64_t>());
  }
  std::vector<unsigned> assigned(n);
  if (team.rank() == 0) {
    require_whole_shares(parts, there);
    team.work([&] { assigned = assign_shares(there, n); });
  }
  const Message message = team.broadcast(std::as_bytes(std::span(assigned)));
  MessageReader reader(message);
  for (unsigned& share : assigned) share = reader.take<unsigned>();
  require_each_once(assigned);
  parts.assign(std::move(assigned));
}

}  // namespace gsort::cluster
