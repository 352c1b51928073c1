#include "cluster/runs/devices.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "cluster/message.hpp"

namespace gsort {

template <cluster::Is<VisibleGpu> Any, class Visit>
void visit_fields(Any& gpu, Visit& visit) {
  visit(gpu.ordinal, gpu.address);
}

}  // namespace gsort

namespace gsort::cluster {
namespace {

using Seen = std::vector<std::vector<VisibleGpu>>;
using Place = std::pair<std::string, std::string>;  // host, address

class Dealer {
 public:
  Dealer(const std::vector<std::string>& hosts, const Seen& seen)
      : hosts_(hosts), seen_(seen), taken_(seen.size()) {
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      taken_[rank].resize(seen[rank].size());
    }
  }

  std::vector<std::vector<DealtDevice>> deal() {
    for (std::size_t rank = 0; rank < seen_.size(); ++rank) {
      if (const auto gpu = least_used_of(rank)) take(rank, *gpu);
    }
    while (const auto next = next_unused()) take(next->first, next->second);
    std::vector<std::vector<DealtDevice>> dealt(seen_.size());
    for (std::size_t rank = 0; rank < seen_.size(); ++rank) {
      for (std::size_t gpu = 0; gpu < seen_[rank].size(); ++gpu) {
        if (!taken_[rank][gpu]) continue;
        dealt[rank].push_back({seen_[rank][gpu].ordinal, users_[place_of(rank, gpu)]});
      }
    }
    return dealt;
  }

 private:
  [[nodiscard]] Place place_of(std::size_t rank, std::size_t gpu) const {
    return {hosts_[rank], seen_[rank][gpu].address};
  }

  void take(std::size_t rank, std::size_t gpu) {
    taken_[rank][gpu] = true;
    ++users_[place_of(rank, gpu)];
  }

  std::optional<std::size_t> least_used_of(std::size_t rank) {
    std::optional<std::size_t> least;
    for (std::size_t gpu = 0; gpu < seen_[rank].size(); ++gpu) {
      if (!least || users_[place_of(rank, gpu)] < users_[place_of(rank, *least)]) least = gpu;
    }
    return least;
  }

  // An unused GPU, and the process with the fewest GPUs among those that see one.
  std::optional<std::pair<std::size_t, std::size_t>> next_unused() {
    std::optional<std::pair<std::size_t, std::size_t>> next;
    for (std::size_t rank = 0; rank < seen_.size(); ++rank) {
      if (next && used_by(rank) >= used_by(next->first)) continue;
      const auto gpu = least_used_of(rank);
      if (gpu && users_[place_of(rank, *gpu)] == 0) next = {rank, *gpu};
    }
    return next;
  }

  [[nodiscard]] std::ptrdiff_t used_by(std::size_t rank) const {
    return std::ranges::count(taken_[rank], true);
  }

  const std::vector<std::string>& hosts_;
  const Seen& seen_;
  std::vector<std::vector<bool>> taken_;  // of those that each sees
  std::map<Place, unsigned> users_;
};

// Rank 0 deals for all.
std::vector<DealtDevice> dealt_to(Team& team, const std::vector<VisibleGpu>& own) {
  std::vector<std::string> hosts;
  Seen seen;
  for (const Message& message : team.gather(message_of(own))) {
    hosts.push_back(team.host_of(static_cast<unsigned>(hosts.size())));
    seen.push_back(value_in<std::vector<VisibleGpu>>(message));
  }
  const Message message = team.broadcast(message_of(deal_devices(hosts, seen)));
  const auto all = value_in<std::vector<std::vector<DealtDevice>>>(message);
  if (all.size() <= team.rank()) throw_malformed();
  return all[team.rank()];
}

}  // namespace

std::vector<std::vector<DealtDevice>> deal_devices(const std::vector<std::string>& hosts,
                                                   const Seen& seen) {
  return Dealer(hosts, seen).deal();
}

void look_for_dealt_gpus(Team& team, const Job& job, Machine& machine) {
  std::vector<VisibleGpu> seen;
  team.work([&] { seen = on_this_host([&] { return visible_gpus(job, machine); }); });
  const std::vector<DealtDevice> dealt = dealt_to(team, seen);
  std::vector<unsigned> own;
  for (const DealtDevice& device : dealt) own.push_back(static_cast<unsigned>(device.ordinal));
  team.work([&] { on_this_host([&] { (void)look_for_gpus(job, machine, own); }); });
  for (GpuFacts& gpu : machine.gpus) {
    const unsigned parts = std::ranges::find(dealt, gpu.device, &DealtDevice::ordinal)->parts;
    gpu.free_bytes /= parts;
    gpu.total_bytes /= parts;
  }
}

}  // namespace gsort::cluster
