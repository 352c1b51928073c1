#include "cluster/cuts.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"

namespace gsort::cluster {
namespace {

// Values tried at once for each cut: fewer of many cuts, whose rounds are shared. Each costs a
// search of the fences of all runs, so that 255 values, which halve the rounds, took eight times as
// long.
constexpr std::uint64_t kMostProbes = 31;
constexpr std::uint64_t kLeastProbes = 15;
constexpr std::uint64_t kSumValues = 512;
// Fences are searched so often in less time than threads take to start.
constexpr std::uint64_t kFewLookups = 5'000;

// How much more than what cannot be decided is left when a search goes on to the next step; at
// least twice as much is.
constexpr std::uint64_t kNarrow = 3;

// Keys at random places in blocks of n elements are off their expected number by sqrt(n) / 2 at
// most, on average, so those of several runs, with n elements in all these blocks, as well.
double doubt_of(std::uint64_t elements) {
  return 2 * std::sqrt(static_cast<double>(elements));
}

std::uint64_t sum_of(const Cuts& cuts) {
  return std::accumulate(cuts.begin(), cuts.end(), std::uint64_t{0});
}

Error not_in_order(std::uint64_t position) {
  return Error(ErrorKind::kCorrupt, fmt::format("cutting at element {} of the output", position),
               "the runs are not in order")
      .hint("memory or a disk corrupted data; the old output is unchanged, repeat the sort");
}

// The values [least, greatest], and about how many elements are less than the first one, and not
// greater than the last one.
struct Values {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;
  double before = 0;
  double up_to = 0;

  [[nodiscard]] std::uint64_t width() const { return greatest - least; }
  // Where the position is if elements are spread evenly.
  [[nodiscard]] std::uint64_t likely(std::uint64_t position) const {
    const double share = (static_cast<double>(position) - before) / std::max(up_to - before, 1.0);
    const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(width());
    return place < static_cast<double>(width()) ? least + static_cast<std::uint64_t>(place)
                                                : greatest;
  }
};

// The search for one cut. Values are all processes' alike, windows [low, high] this one's own.
struct Search {
  std::uint64_t position = 0;
  std::size_t word = 0;
  Values values;  // the value is one of these
  Cuts low;       // of each run: elements that are before the cut for certain
  Cuts high;      // those that may be
  bool uses_fences = true;
  bool is_found = false;  // low holds the cuts
  unsigned slot = 0;

  // A guess, for certain at no time: the value is greater than guess.least, and not greater than
  // guess.greatest.
  Values guess;
  bool is_guessing = true;
  double doubt = 0;  // how many elements the guess may be off

  // Of a round: the values tried; what this process adds to the sums, then the sums; and of counts
  // the cuts.
  std::vector<std::uint64_t> tried;
  std::vector<std::uint64_t> totals;
  std::vector<Cuts> here;

  [[nodiscard]] bool is_narrowed() const { return is_found || values.width() == 0; }
};

// The values that a search tries in a round, ascending, below the greatest: all if they are few,
// otherwise half of them spread evenly, and half around the likely one, the nearer the denser. Of n
// random elements, the likely one is off by sqrt(n) / 2 at most, on average.
std::vector<std::uint64_t> probes_of(const Values& values, std::uint64_t position,
                                     std::uint64_t most) {
  std::vector<std::uint64_t> probes;
  const std::uint64_t width = values.width();
  if (width <= most) {
    for (std::uint64_t i = 0; i < width; ++i) probes.push_back(values.least + i);
    return probes;
  }
  const std::uint64_t pairs = most / 4;
  const std::uint64_t steps = most - 2 * pairs;  // one more than are spread evenly
  for (std::uint64_t i = 1; i < steps; ++i) probes.push_back(values.least + width / steps * i);
  const auto elements = static_cast<std::uint64_t>(std::max(values.up_to - values.before, 1.0));
  const auto nearest = static_cast<std::uint64_t>(std::bit_width(elements)) / 2 + 1;
  const std::uint64_t likely = std::min(values.likely(position), values.greatest - 1);
  probes.push_back(likely);
  for (std::uint64_t i = 1; i <= pairs; ++i) {
    const std::uint64_t off = width >> (nearest * i / pairs);
    probes.push_back(likely - std::min(off, likely - values.least));
    probes.push_back(likely + std::min(off, values.greatest - 1 - likely));
  }
  std::ranges::sort(probes);
  probes.erase(std::ranges::unique(probes).begin(), probes.end());
  return probes;
}

class CutSearch {
 public:
  CutSearch(Team& team, RunCounts& counts, unsigned threads, CutCost& cost)
      : team_(team), counts_(counts), threads_(threads), cost_(cost) {}

  // At most as many positions as there are slots.
  std::vector<Cuts> find(std::span<const std::uint64_t> positions, std::uint64_t total) {
    searches_.clear();
    for (const std::uint64_t position : positions) begin(position, total);
    probes_ = std::clamp(kSumValues / searches_.size(), kLeastProbes, kMostProbes);
    narrow_by_fences();
    narrow_guesses();
    while (!those([](const Search& s) { return !s.is_found; }).empty()) {
      narrow_by_counts();
      settle();
    }
    require_positions();
    std::vector<Cuts> cuts;
    for (Search& search : searches_) cuts.push_back(std::move(search.low));
    return cuts;
  }

 private:
  using Searches = std::vector<Search*>;

  void begin(std::uint64_t position, std::uint64_t total) {
    Search search;
    search.position = position;
    search.values = {0, counts_.greatest(), 0, static_cast<double>(total)};
    search.slot = static_cast<unsigned>(searches_.size());
    search.low.assign(counts_.runs(), 0);
    for (std::size_t run = 0; run < counts_.runs(); ++run) {
      search.high.push_back(counts_.elements(run));
    }
    search.is_found = position == 0 || position == total;
    if (position == total) search.low = search.high;
    searches_.push_back(std::move(search));
  }

  // The same ones in all processes.
  template <class Predicate>
  [[nodiscard]] Searches those(const Predicate& predicate) {
    Searches some;
    for (Search& search : searches_) {
      if (predicate(search)) some.push_back(&search);
    }
    return some;
  }

  // Each search reads blocks or looks up many fences: several threads do it, and the others hear of
  // this process meanwhile.
  void for_each(const Searches& some, const std::function<void(Search&)>& work) {
    team_.work([&] {
      std::atomic<std::size_t> next = 0;
      Failure failure;
      const auto workers = std::min<std::size_t>(threads_, some.size());
      run_workers(static_cast<unsigned>(workers), [&](unsigned) {
        for (std::size_t i = next++; i < some.size() && !failure.failed(); i = next++) {
          try {
            work(*some[i]);
          } catch (...) {
            failure.capture();
          }
        }
      });
      failure.rethrow();
    });
  }

  // The same without reading, so that few lookups need no threads.
  void look_up(const Searches& some, const std::function<void(Search&)>& work) {
    if (some.size() * probes_ * counts_.runs() > kFewLookups) return for_each(some, work);
    for (Search* const search : some) {
      team_.step_if_due();
      work(*search);
    }
  }

  // A round: over all processes.
  void add_up(const Searches& some, std::uint64_t& rounds) {
    std::vector<std::uint64_t> all;
    for (const Search* const search : some) {
      all.insert(all.end(), search->totals.begin(), search->totals.end());
    }
    team_.sum(all);
    std::span<const std::uint64_t> left = all;
    for (Search* const search : some) {
      std::ranges::copy(left.first(search->totals.size()), search->totals.begin());
      left = left.subspan(search->totals.size());
    }
    ++rounds;
    cost_.sum_bytes += all.size() * sizeof(std::uint64_t);
  }

  void narrow_by_fences() {
    while (true) {
      const auto open = those([](const Search& s) { return !s.is_narrowed() && s.uses_fences; });
      if (open.empty()) return;
      look_up(open, [this](Search& search) {
        search.tried = probes_of(search.values, search.position, probes_);
        search.totals.clear();
        for (const std::uint64_t value : search.tried) {
          search.totals.push_back(sum_of(bounds_of(search, value, &RunCounts::Bounds::least)));
          search.totals.push_back(sum_of(bounds_of(search, value, &RunCounts::Bounds::most)));
        }
      });
      add_up(open, cost_.fence_rounds);
      look_up(open, [this](Search& search) { narrow_by_fences(search); });
    }
  }

  [[nodiscard]] Cuts bounds_of(const Search& search, std::uint64_t value,
                               std::uint64_t RunCounts::Bounds::*which) const {
    Cuts cuts(counts_.runs());
    for (std::size_t run = 0; run < cuts.size(); ++run) {
      const auto [low, high] = std::pair(search.low[run], search.high[run]);
      cuts[run] = low == high ? low : std::clamp(counts_.bounds(run, value).*which, low, high);
    }
    return cuts;
  }

  // Stops where a round leaves more than half of the values, or few more elements than blocks have
  // that hold a value: the fences cannot decide more.
  void narrow_by_fences(Search& search) const {
    const std::vector<std::uint64_t>& totals = search.totals;
    const std::uint64_t width = search.values.width();
    const auto likely = [&](std::size_t i) {
      return (static_cast<double>(totals[2 * i]) + static_cast<double>(totals[2 * i + 1])) / 2;
    };
    std::optional<std::uint64_t> above;
    std::optional<std::uint64_t> below;
    std::uint64_t open = 0;  // the elements of these blocks, above
    std::uint64_t most = 0;
    std::uint64_t least = 0;
    for (std::size_t i = 0; i < search.tried.size(); ++i) {
      if (totals[2 * i] >= search.position && !above) {
        above = search.tried[i];
        search.values.up_to = likely(i);
        most = totals[2 * i + 1];
        open = most - totals[2 * i];
        search.doubt = doubt_of(open);
      }
      if (totals[2 * i + 1] >= search.position) continue;
      below = search.tried[i];
      least = totals[2 * i];
      search.values.before = likely(i);
    }
    if (above && below && *above <= *below) throw not_in_order(search.position);
    if (above) search.high = bounds_of(search, *above, &RunCounts::Bounds::most);
    if (below) search.low = bounds_of(search, *below, &RunCounts::Bounds::least);
    if (above) search.values.greatest = *above;
    if (below) search.values.least = *below + 1;
    const bool is_narrow = above && below && most - least <= kNarrow * open;
    search.uses_fences = !is_narrow && search.values.width() <= width / 2;
    search.guess = search.values;
  }

  // Without reading; stops as narrow_by_fences() does.
  void narrow_guesses() {
    while (true) {
      const auto open = those([](const Search& s) { return !s.is_narrowed() && s.is_guessing; });
      if (open.empty()) return;
      look_up(open, [this](Search& search) {
        search.tried = probes_of(search.guess, search.position, probes_);
        search.totals.clear();
        for (const std::uint64_t value : search.tried) {
          search.totals.push_back(expected_up_to(search, value));
        }
      });
      add_up(open, cost_.fence_rounds);
      for (Search* const search : open) narrow_guess(*search);
    }
  }

  [[nodiscard]] std::uint64_t expected_up_to(const Search& search, std::uint64_t value) const {
    std::uint64_t sum = 0;
    for (std::size_t run = 0; run < counts_.runs(); ++run) {
      sum += std::clamp(counts_.expected(run, value), search.low[run], search.high[run]);
    }
    return sum;
  }

  static void narrow_guess(Search& search) {
    const auto position = static_cast<double>(search.position);
    const std::uint64_t width = search.guess.width();
    for (std::size_t i = search.tried.size(); i-- > 0;) {
      const auto total = static_cast<double>(search.totals[i]);
      if (total >= position + search.doubt) {
        search.guess.greatest = search.tried[i];
        search.guess.up_to = total;
      }
      if (total >= position - search.doubt) continue;
      search.guess.least = search.tried[i];
      search.guess.before = total;
      break;
    }
    search.is_guessing = search.guess.width() > 0 && search.guess.width() <= width / 2 &&
                         search.guess.up_to - search.guess.before > kNarrow * search.doubt;
  }

  // Reads blocks.
  [[nodiscard]] Cuts counts_at(const Search& search, std::uint64_t value, const Cuts& low) const {
    Cuts cuts(counts_.runs());
    for (std::size_t run = 0; run < cuts.size(); ++run) {
      cuts[run] = counts_.count(search.slot, run, search.word, value, low[run], search.high[run]);
    }
    return cuts;
  }

  void narrow_by_counts() {
    while (true) {
      const auto open = those([](const Search& s) { return !s.is_narrowed(); });
      if (open.empty()) return;
      for_each(open, [this](Search& search) {
        search.here.clear();
        search.totals.clear();
        search.tried = to_count(search);
        for (const std::uint64_t value : search.tried) {
          search.here.push_back(
              counts_at(search, value, search.here.empty() ? search.low : search.here.back()));
          search.totals.push_back(sum_of(search.here.back()));
        }
      });
      add_up(open, cost_.rounds);
      for (Search* const search : open) narrow_by_count(*search);
    }
  }

  // The values that a search counts next: the ends of the guess, if it has one.
  [[nodiscard]] std::vector<std::uint64_t> to_count(const Search& search) const {
    std::vector<std::uint64_t> ends;
    if (search.guess.least > search.values.least) ends.push_back(search.guess.least);
    if (search.guess.greatest < search.values.greatest) ends.push_back(search.guess.greatest);
    return ends.empty() ? probes_of(search.values, search.position, probes_) : ends;
  }

  static void narrow_by_count(Search& search) {
    const std::vector<std::uint64_t>& totals = search.totals;
    const auto reached = static_cast<std::size_t>(
        std::ranges::lower_bound(totals, search.position) - totals.begin());
    if (reached > 0) {
      search.low = search.here[reached - 1];
      search.values.least = search.tried[reached - 1] + 1;
      search.values.before = static_cast<double>(totals[reached - 1]);
    }
    if (reached < totals.size()) {
      search.high = search.here[reached];
      search.values.greatest = search.tried[reached];
      search.values.up_to = static_cast<double>(totals[reached]);
      if (totals[reached] == search.position) {
        search.low = search.high;
        search.is_found = true;
      }
    }
    search.guess = search.values;
  }

  // One value is left: what is below it, and what up to it. Ties go to the next word, or are dealt
  // out.
  void settle() {
    const auto open = those([](const Search& s) { return !s.is_found; });
    if (open.empty()) return;
    for_each(open, [this](Search& search) {
      const std::uint64_t value = search.values.least;
      if (value > 0) search.low = counts_at(search, value - 1, search.low);
      search.high = counts_at(search, value, search.low);
      search.totals = {sum_of(search.low), sum_of(search.high)};
    });
    add_up(open, cost_.rounds);
    std::vector<std::uint64_t> missing;
    for (Search* const search : open) missing.push_back(missing_of(*search));
    deal_out(open, missing);
  }

  // How many ties of the value are before the cut, if that is not all or none.
  static std::uint64_t missing_of(Search& search) {
    const std::uint64_t below = search.totals[0];
    const std::uint64_t up_to = search.totals[1];
    if (search.position < below || search.position > up_to) throw not_in_order(search.position);
    search.is_found = search.position == below || search.position == up_to;
    if (search.position == up_to) search.low = search.high;
    return search.position - below;
  }

  void deal_out(const Searches& open, const std::vector<std::uint64_t>& missing) {
    std::vector<std::uint64_t> before;
    for (const Search* search : open) before.push_back(sum_of(search->high) - sum_of(search->low));
    team_.sum_before(before);
    for (std::size_t i = 0; i < open.size(); ++i) {
      Search& search = *open[i];
      if (search.is_found) continue;
      if (search.word + 1 < counts_.words()) {
        ++search.word;
        search.values = {0, ~std::uint64_t{0}, static_cast<double>(search.totals[0]),
                         static_cast<double>(search.totals[1])};
        search.guess = search.values;
        continue;
      }
      std::uint64_t left = missing[i] - std::min(missing[i], before[i]);
      for (std::size_t run = 0; run < counts_.runs(); ++run) {
        const std::uint64_t taken = std::min(left, search.high[run] - search.low[run]);
        search.low[run] += taken;
        left -= taken;
      }
      search.is_found = true;
    }
  }

  void require_positions() {
    std::vector<std::uint64_t> totals;
    for (const Search& search : searches_) totals.push_back(sum_of(search.low));
    team_.sum(totals);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      if (totals[i] != searches_[i].position) throw not_in_order(searches_[i].position);
    }
  }

  Team& team_;
  RunCounts& counts_;
  unsigned threads_;
  CutCost& cost_;
  std::vector<Search> searches_;
  std::uint64_t probes_ = kLeastProbes;
};

}  // namespace

std::vector<Cuts> find_cuts(Team& team, RunCounts& counts, std::span<const std::uint64_t> positions,
                            unsigned threads, CutCost* cost) {
  CutCost own;
  CutSearch search(team, counts, threads, cost != nullptr ? *cost : own);
  std::uint64_t total = 0;
  for (std::size_t run = 0; run < counts.runs(); ++run) total += counts.elements(run);
  team.sum(std::span(&total, 1));
  std::vector<Cuts> cuts;
  for (std::size_t at = 0; at < positions.size(); at += counts.slots()) {
    const auto some =
        positions.subspan(at, std::min<std::size_t>(counts.slots(), positions.size() - at));
    for (Cuts& found : search.find(some, total)) {
      const Cuts& before = cuts.empty() ? found : cuts.back();
      if (!std::ranges::equal(before, found, std::ranges::less_equal{})) {
        throw not_in_order(some[cuts.size() - at]);
      }
      cuts.push_back(std::move(found));
    }
  }
  return cuts;
}

}  // namespace gsort::cluster
