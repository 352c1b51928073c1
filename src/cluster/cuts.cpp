#include "cluster/cuts.hpp"

#include <algorithm>
#include <atomic>
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

// The values [least, greatest].
struct Values {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;

  [[nodiscard]] std::uint64_t width() const { return greatest - least; }
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

  // Of a round: what this process adds to the sums, then the sums; and of counts the cuts.
  std::vector<std::uint64_t> totals;
  std::vector<Cuts> here;

  [[nodiscard]] bool is_narrowed() const { return is_found || values.width() == 0; }
};

// Of some values, those that a search tries in a round: number i of `count`, below the greatest,
// spread evenly, ascending.
struct Probes {
  Probes(const Values& values, std::uint64_t most)
      : least(values.least),
        width(values.width()),
        count(std::min(width, most)),
        steps(count < width ? count + 1 : 0) {}

  [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const {
    if (steps == 0) return least + i;
    const std::uint64_t at = i + 1;
    return least + (width / steps) * at + (width % steps) * at / steps;
  }

  std::uint64_t least;
  std::uint64_t width;
  std::uint64_t count;
  std::uint64_t steps;
};

std::vector<std::uint64_t> spread(const Values& values, std::uint64_t most) {
  const Probes probes(values, most);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < probes.count; ++i) all.push_back(probes[i]);
  return all;
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
    search.values.greatest = counts_.greatest();
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
        const Probes probes(search.values, probes_);
        search.totals.clear();
        for (std::uint64_t i = 0; i < probes.count; ++i) {
          search.totals.push_back(sum_of(bounds_of(search, probes[i], &RunCounts::Bounds::least)));
          search.totals.push_back(sum_of(bounds_of(search, probes[i], &RunCounts::Bounds::most)));
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

  // Stops where a round leaves more than half of the values: the fences cannot decide more.
  void narrow_by_fences(Search& search) const {
    const Probes probes(search.values, probes_);
    const std::vector<std::uint64_t>& totals = search.totals;
    std::optional<std::uint64_t> above;
    std::optional<std::uint64_t> below;
    for (std::uint64_t i = 0; i < probes.count; ++i) {
      if (totals[2 * i] >= search.position && !above) {
        above = probes[i];
        search.doubt = doubt_of(totals[2 * i + 1] - totals[2 * i]);
      }
      if (totals[2 * i + 1] < search.position) below = probes[i];
    }
    if (above && below && *above <= *below) throw not_in_order(search.position);
    if (above) search.high = bounds_of(search, *above, &RunCounts::Bounds::most);
    if (below) search.low = bounds_of(search, *below, &RunCounts::Bounds::least);
    if (above) search.values.greatest = *above;
    if (below) search.values.least = *below + 1;
    search.uses_fences = search.values.width() <= probes.width / 2;
    search.guess = search.values;
  }

  // Without reading; stops as narrow_by_fences() does.
  void narrow_guesses() {
    while (true) {
      const auto open = those([](const Search& s) { return !s.is_narrowed() && s.is_guessing; });
      if (open.empty()) return;
      look_up(open, [this](Search& search) {
        search.totals.clear();
        for (const std::uint64_t value : spread(search.guess, probes_)) {
          search.totals.push_back(expected_up_to(search, value));
        }
      });
      add_up(open, cost_.fence_rounds);
      for (Search* const search : open) narrow_guess(*search, spread(search->guess, probes_));
    }
  }

  [[nodiscard]] std::uint64_t expected_up_to(const Search& search, std::uint64_t value) const {
    std::uint64_t sum = 0;
    for (std::size_t run = 0; run < counts_.runs(); ++run) {
      sum += std::clamp(counts_.expected(run, value), search.low[run], search.high[run]);
    }
    return sum;
  }

  static void narrow_guess(Search& search, std::span<const std::uint64_t> values) {
    const auto position = static_cast<double>(search.position);
    const std::uint64_t width = search.guess.width();
    for (std::size_t i = values.size(); i-- > 0;) {
      const auto total = static_cast<double>(search.totals[i]);
      if (total >= position + search.doubt) search.guess.greatest = values[i];
      if (total >= position - search.doubt) continue;
      search.guess.least = values[i];
      break;
    }
    search.is_guessing = search.guess.width() > 0 && search.guess.width() <= width / 2;
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
        for (const std::uint64_t value : tried(search)) {
          search.here.push_back(
              counts_at(search, value, search.here.empty() ? search.low : search.here.back()));
          search.totals.push_back(sum_of(search.here.back()));
        }
      });
      add_up(open, cost_.rounds);
      for (Search* const search : open) narrow_by_counts(*search, tried(*search));
    }
  }

  // The values that a search counts next: the ends of the guess, if it has one.
  [[nodiscard]] std::vector<std::uint64_t> tried(const Search& search) const {
    std::vector<std::uint64_t> ends;
    if (search.guess.least > search.values.least) ends.push_back(search.guess.least);
    if (search.guess.greatest < search.values.greatest) ends.push_back(search.guess.greatest);
    return ends.empty() ? spread(search.values, probes_) : ends;
  }

  static void narrow_by_counts(Search& search, std::span<const std::uint64_t> values) {
    const std::vector<std::uint64_t>& totals = search.totals;
    const auto reached = static_cast<std::size_t>(
        std::ranges::lower_bound(totals, search.position) - totals.begin());
    if (reached > 0) {
      search.low = search.here[reached - 1];
      search.values.least = values[reached - 1] + 1;
    }
    if (reached < totals.size()) {
      search.high = search.here[reached];
      search.values.greatest = values[reached];
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
        search.values = search.guess = {0, ~std::uint64_t{0}};
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
