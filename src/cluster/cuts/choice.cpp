#include "cluster/cuts/choice.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "cluster/message.hpp"

namespace gsort::cluster {
namespace {

Message joined(const std::vector<Offer>& offers, ConstByteSpan some, ConstByteSpan others) {
  MessageReader reader(some);
  MessageReader of_others(others);
  MessageWriter writer;
  for (const Offer& offer : offers) {
    auto values = reader.take_values<std::uint64_t>();
    const auto more = of_others.take_values<std::uint64_t>();
    if (offer.is_few) {
      values.insert(values.end(), more.begin(), more.end());
    } else {
      if (values.size() != more.size()) throw_malformed();
      std::ranges::transform(values, more, values.begin(), std::plus{});
    }
    writer.put_values(values);
  }
  return writer.take();
}

Chosen choose(const Offer& offer, std::vector<std::uint64_t> values) {
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
  MessageWriter own;
  for (const Offer& offer : offers) own.put_values(offer.values);
  const Message all = team.join(own.take(), [&](Message& some, ConstByteSpan of_higher_ranks) {
    some = joined(offers, some, of_higher_ranks);
  });
  MessageWriter writer;
  if (team.rank() == 0) {
    MessageReader reader(all);
    for (const Offer& offer : offers)
      writer.put(choose(offer, reader.take_values<std::uint64_t>()));
  }
  const Message answer = team.broadcast(writer.take());
  MessageReader reader(answer);
  std::vector<Chosen> chosen(offers.size());
  for (Chosen& of_cut : chosen) of_cut = reader.take<Chosen>();
  return chosen;
}

Error not_in_order(std::uint64_t position) {
  return Error(ErrorKind::kCorrupt, fmt::format("cutting at element {} of the output", position),
               "the runs are not in order")
      .hint("memory or a disk corrupted data; the old output is unchanged, repeat the sort");
}

}  // namespace gsort::cluster
