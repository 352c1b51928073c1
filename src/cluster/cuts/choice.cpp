#include "cluster/cuts/choice.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "cluster/message.hpp"

namespace gsort::cluster {
namespace {

// Puts the values of a cut: their number, then the values.
void put(MessageWriter& writer, std::span<const std::uint64_t> values) {
  writer.put<std::uint64_t>(values.size());
  writer.put_bytes(std::as_bytes(values));
}

std::vector<std::uint64_t> take(MessageReader& reader) {
  std::vector<std::uint64_t> values;
  for (auto left = reader.take<std::uint64_t>(); left > 0; --left) {
    values.push_back(reader.take<std::uint64_t>());
  }
  return values;
}

Message joined(const std::vector<Offer>& offers, ConstByteSpan some, ConstByteSpan others) {
  MessageReader reader(some);
  MessageReader of_others(others);
  MessageWriter writer;
  for (const Offer& offer : offers) {
    std::vector<std::uint64_t> values = take(reader);
    const std::vector<std::uint64_t> more = take(of_others);
    if (offer.is_few) {
      values.insert(values.end(), more.begin(), more.end());
    } else {
      if (values.size() != more.size()) throw_malformed();
      std::ranges::transform(values, more, values.begin(), std::plus{});
    }
    put(writer, values);
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
  for (const Offer& offer : offers) put(own, offer.values);
  const Message all = team.join(own.take(), [&](Message& some, ConstByteSpan of_higher_ranks) {
    some = joined(offers, some, of_higher_ranks);
  });
  MessageWriter writer;
  if (team.rank() == 0) {
    MessageReader reader(all);
    for (const Offer& offer : offers) writer.put(choose(offer, take(reader)));
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
