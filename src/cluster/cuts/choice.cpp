#include "cluster/cuts/choice.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "cluster/message.hpp"

namespace gsort::cluster {
namespace {

// A list for each offer.
using Values = std::vector<std::uint64_t>;
std::vector<Values> values_in_all(ConstByteSpan message, std::size_t offers) {
  auto all = value_in<std::vector<Values>>(message);
  if (all.size() != offers) throw_malformed();
  return all;
}

Message joined(const std::vector<Offer>& offers, ConstByteSpan some, ConstByteSpan others) {
  std::vector<Values> all = values_in_all(some, offers.size());
  const std::vector<Values> more = values_in_all(others, offers.size());
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].is_few) {
      all[i].insert(all[i].end(), more[i].begin(), more[i].end());
    } else {
      if (all[i].size() != more[i].size()) throw_malformed();
      std::ranges::transform(all[i], more[i], all[i].begin(), std::plus{});
    }
  }
  return message_of(all);
}

Chosen choose(const Offer& offer, Values values) {
  if (!offer.is_few) {
    if (values.size() != 2) throw_malformed();
    return {0, values[0], values[1]};
  }
  const std::uint64_t at = offer.position - offer.before - 1;
  if (at >= values.size()) throw not_in_order(offer.position);
  std::ranges::sort(values);
  const auto [first, last] = std::equal_range(values.begin(), values.end(), values[at]);
  const auto place = [&](auto found) {
    return offer.before + static_cast<std::uint64_t>(found - values.begin());
  };
  return {values[at], place(first), place(last)};
}

}  // namespace

std::vector<Chosen> choose_together(Team& team, const std::vector<Offer>& offers) {
  std::vector<Values> own;
  for (const Offer& offer : offers) own.push_back(offer.values);
  const Message all = team.join(message_of(own), [&](Message& some, ConstByteSpan of_higher_ranks) {
    some = joined(offers, some, of_higher_ranks);
  });
  std::vector<Chosen> chosen;
  if (team.rank() == 0) {
    const std::vector<Values> values = values_in_all(all, offers.size());
    for (std::size_t i = 0; i < offers.size(); ++i) chosen.push_back(choose(offers[i], values[i]));
  }
  chosen = value_in<std::vector<Chosen>>(team.broadcast(message_of(chosen)));
  if (chosen.size() != offers.size()) throw_malformed();
  return chosen;
}

Error not_in_order(std::uint64_t position) {
  return Error(ErrorKind::kCorrupt, fmt::format("cutting at element {} of the output", position),
               "the runs are not in order")
      .hint("memory or a disk corrupted data; the old output is unchanged, repeat the sort");
}

}  // namespace gsort::cluster
