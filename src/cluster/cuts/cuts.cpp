#include "cluster/cuts/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "base/parallel.hpp"
#include "cluster/cuts/choice.hpp"
#include "cluster/cuts/cut_values.hpp"

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

// So few elements of all processes, from which a cut has to be chosen, are sent and compared: half
// a kilobyte.
constexpr std::uint64_t kFewElements = 64;
// A guess is not narrowed further if it leaves at most this many times its possible error: at least
// twice the error is left.
constexpr double kNarrow = 3;

// Keys at random places in blocks of n elements are off their expected number by sqrt(n) / 2 at
// most, on average, so those of several runs, with n elements in all these blocks, as well.
double doubt_of(std::uint64_t elements) {
  return 2 * std::sqrt(static_cast<double>(elements));
}

std::uint64_t sum_of(const Cuts& cuts) {
  return std::accumulate(cuts.begin(), cuts.end(), std::uint64_t{0});
}

// The search for one cut. Values are all processes' alike, windows [low, high] this one's own.
struct Search {
  std::uint64_t position = 0;
  std::size_t word = 0;
  CutValues values;  // the value is one of these
  Cuts low;          // of each run: elements that are before the cut for certain
  Cuts high;         // those that may be
  bool uses_fences = true;
  bool is_found = false;  // low holds the cuts
  unsigned slot = 0;
  // Whether values.before and values.up_to are counts, not estimates.
  bool is_counted_before = true;
  bool is_counted_up_to = true;

  // A guess, for certain at no time: the value is greater than guess.least, and not greater than
  // guess.greatest. It is counted once.
  CutValues guess;
  bool has_guess = true;
  double doubt = 0;  // how many elements the guess may be off

  // In a round: the values that are tried; the terms of this process, then the sums; and the cuts
  // of its runs at these values.
  std::vector<std::uint64_t> tried;
  std::vector<std::uint64_t> totals;
  std::vector<Cuts> here;

  [[nodiscard]] bool is_narrowed() const { return is_found || values.width() == 0; }
  // The elements that may be the last one before the cut are known to be few.
  [[nodiscard]] bool has_few() const {
    return is_counted_before && is_counted_up_to &&
           values.up_to - values.before <= static_cast<double>(kFewElements);
  }
  [[nodiscard]] std::uint64_t few() const {
    return static_cast<std::uint64_t>(values.up_to - values.before);
  }
  [[nodiscard]] bool has_to_count() const { return !is_narrowed() && !has_few(); }
};

class CutSearch {
 public:
  CutSearch(Team& team, RunCounts& counts, unsigned threads, CutCost& cost, const RunOrder& order)
      : team_(team), counts_(counts), threads_(threads), cost_(cost), order_(order) {}

  // At most as many positions as there are slots.
  std::vector<Cuts> find(std::span<const std::uint64_t> positions, std::uint64_t total) {
    searches_.clear();
    for (const std::uint64_t position : positions) begin(position, total);
    probes_ = std::clamp(kSumValues / searches_.size(), kLeastProbes, kMostProbes);
    while (!those([](const Search& s) { return !s.is_found; }).empty()) {
      narrow_by_fences();
      const Searches open = those([](const Search& s) { return s.has_to_count(); });
      open.empty() ? decide() : narrow_by_counts(open);
    }
    std::vector<Cuts> cuts;
    for (Search& search : searches_) cuts.push_back(std::move(search.low));
    return cuts;
  }

 private:
  using Searches = std::vector<Search*>;

  void begin(std::uint64_t position, std::uint64_t total) {
    Search search;
    search.position = position;
    search.guess = search.values = {0, counts_.greatest(), 0, static_cast<double>(total)};
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
    const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads_, some.size()));
    team_.work([&] {
      for_each_number(workers, some.size(), [&](unsigned, std::size_t i) { work(*some[i]); });
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

  // Reads nothing: the fences tell, for each value tried, the least, the most and the likely number
  // of elements that are not greater.
  void narrow_by_fences() {
    while (true) {
      const auto open = those([](const Search& s) { return s.has_to_count() && s.uses_fences; });
      if (open.empty()) return;
      look_up(open, [this](Search& search) {
        search.tried = search.has_guess
                           ? values_to_try(search.guess, search.position, probes_, search.doubt)
                           : values_to_try(search.values, search.position, probes_, 0);
        search.totals.clear();
        for (const std::uint64_t value : search.tried) {
          search.totals.push_back(sum_of(bounds_of(search, value, &RunCounts::Bounds::least)));
          search.totals.push_back(sum_of(bounds_of(search, value, &RunCounts::Bounds::most)));
          search.totals.push_back(expected_up_to(search, value));
        }
      });
      add_up(open, cost_.fence_rounds);
      look_up(open, [this](Search& search) {
        const std::uint64_t width = search.values.width();
        narrow_by_bounds(search);
        search.has_guess ? narrow_guess(search) : narrow_values(search, width);
      });
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

  void narrow_by_bounds(Search& search) const {
    const std::vector<std::uint64_t>& totals = search.totals;
    std::optional<std::size_t> above;
    std::optional<std::size_t> below;
    for (std::size_t i = 0; i < search.tried.size(); ++i) {
      if (totals[3 * i] >= search.position && !above) above = i;
      if (totals[3 * i + 1] < search.position) below = i;
    }
    if (above && below && *above <= *below) throw not_in_order(search.position);
    if (above) {
      search.high = bounds_of(search, search.tried[*above], &RunCounts::Bounds::most);
      search.values.greatest = search.tried[*above];
      search.values.up_to = static_cast<double>(totals[3 * *above + 2]);
      search.is_counted_up_to = false;
    }
    if (below) {
      search.low = bounds_of(search, search.tried[*below], &RunCounts::Bounds::least);
      search.values.least = search.tried[*below] + 1;
      search.values.before = static_cast<double>(totals[3 * *below + 2]);
      search.is_counted_before = false;
    }
  }

  // The fences decide more as long as each round leaves at most half of the values.
  static void narrow_values(Search& search, std::uint64_t width) {
    search.uses_fences = search.values.width() <= width / 2;
  }

  [[nodiscard]] std::uint64_t expected_up_to(const Search& search, std::uint64_t value) const {
    std::uint64_t sum = 0;
    for (std::size_t run = 0; run < counts_.runs(); ++run) {
      sum += std::clamp(counts_.expected(run, value), search.low[run], search.high[run]);
    }
    return sum;
  }

  static void clamp_guess(Search& search) {
    if (search.guess.least < search.values.least) {
      search.guess.least = search.values.least;
      search.guess.before = search.values.before;
    }
    if (search.guess.greatest > search.values.greatest) {
      search.guess.greatest = search.values.greatest;
      search.guess.up_to = search.values.up_to;
    }
  }

  // Goes on until it leaves few more elements than it may be off, which are about as many as blocks
  // that hold the cut. Where keys are not spread evenly enough for that, there is no guess.
  static void narrow_guess(Search& search) {
    const double elements = search.guess.up_to - search.guess.before;
    const auto position = static_cast<double>(search.position);
    const auto total_of = [&](std::size_t i) { return static_cast<double>(search.totals[i]); };
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < search.tried.size(); ++i) {
      if (std::abs(total_of(3 * i + 2) - position) < std::abs(total_of(3 * nearest + 2) - position))
        nearest = i;
    }
    search.doubt = doubt_of(search.totals[3 * nearest + 1] - search.totals[3 * nearest]);
    for (std::size_t i = search.tried.size(); i-- > 0;) {
      const double total = total_of(3 * i + 2);
      if (total >= position + search.doubt) {
        search.guess.greatest = search.tried[i];
        search.guess.up_to = total;
      }
      if (total >= position - search.doubt) continue;
      search.guess.least = search.tried[i];
      search.guess.before = total;
      break;
    }
    clamp_guess(search);
    const double left = search.guess.up_to - search.guess.before;
    const double few = std::max(kNarrow * search.doubt, static_cast<double>(kFewElements));
    search.uses_fences = left > few && search.guess.width() > 1;
    if (search.uses_fences && left > elements / 2) {
      search.uses_fences = left > 2 * few;
      search.has_guess = !search.uses_fences;
    }
  }

  // Reads blocks.
  [[nodiscard]] Cuts counts_at(const Search& search, std::uint64_t value, const Cuts& low) const {
    Cuts cuts(counts_.runs());
    for (std::size_t run = 0; run < cuts.size(); ++run) {
      cuts[run] = counts_.count(search.slot, run, search.word, value, low[run], search.high[run]);
    }
    return cuts;
  }

  void narrow_by_counts(const Searches& open) {
    for_each(open, [this](Search& search) {
      search.here.clear();
      search.totals.clear();
      search.tried = search.has_guess ? values_within(search.guess, search.values, probes_)
                                      : values_to_try(search.values, search.position, probes_, 0);
      for (const std::uint64_t value : search.tried) {
        search.here.push_back(
            counts_at(search, value, search.here.empty() ? search.low : search.here.back()));
        search.totals.push_back(sum_of(search.here.back()));
      }
    });
    add_up(open, cost_.rounds);
    for (Search* const search : open) narrow_by_count(*search);
  }

  static void narrow_by_count(Search& search) {
    const std::vector<std::uint64_t>& totals = search.totals;
    const auto reached = static_cast<std::size_t>(
        std::ranges::lower_bound(totals, search.position) - totals.begin());
    if (reached > 0) {
      search.low = search.here[reached - 1];
      search.values.least = search.tried[reached - 1] + 1;
      search.values.before = static_cast<double>(totals[reached - 1]);
      search.is_counted_before = true;
    }
    if (reached < totals.size()) {
      search.high = search.here[reached];
      search.values.greatest = search.tried[reached];
      search.values.up_to = static_cast<double>(totals[reached]);
      search.is_counted_up_to = true;
      if (totals[reached] == search.position) {
        search.low = search.high;
        search.is_found = true;
      }
    }
    // Where the guess was wrong, the fences say what they can of all values that are left.
    const bool was_right = reached > 0 && reached < totals.size();
    search.uses_fences = search.has_guess && !was_right;
    search.has_guess = false;
  }

  // One value is left, or few elements, which are compared: how many elements are less than the
  // value of the cut, and how many are not greater. Ties go to the next word, or are dealt out.
  void decide() {
    const auto open = those([](const Search& s) { return !s.is_found; });
    for_each(open,
             [this](Search& search) { search.has_few() ? take_few(search) : count_value(search); });
    std::vector<Offer> offers;
    for (Search* const search : open) {
      const auto before = static_cast<std::uint64_t>(search->values.before);
      offers.push_back({search->position, search->has_few(), before, std::move(search->totals)});
    }
    const std::vector<Chosen> all = choose_together(team_, offers);
    ++cost_.rounds;
    std::vector<std::uint64_t> missing;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Search& search = *open[i];
      cost_.sum_bytes += bytes_of_choice(search.has_few() ? search.few() : 2);
      if (search.has_few()) narrow_to(search, all[i].value);
      search.totals = {all[i].below, all[i].up_to};
      missing.push_back(missing_of(search));
    }
    deal_out(open, missing);
  }

  void count_value(Search& search) const {
    const std::uint64_t value = search.values.least;
    if (value > 0) search.low = counts_at(search, value - 1, search.low);
    search.high = counts_at(search, value, search.low);
    search.totals = {sum_of(search.low), sum_of(search.high)};
  }

  // Reads them.
  void take_few(Search& search) const {
    search.here.assign(counts_.runs(), {});
    search.totals.clear();
    for (std::size_t run = 0; run < counts_.runs(); ++run) {
      for (std::uint64_t at = search.low[run]; at < search.high[run]; ++at) {
        if (search.totals.size() == kFewElements) throw not_in_order(search.position);
        const std::uint64_t value = counts_.value_at(search.slot, run, search.word, at);
        search.here[run].push_back(value);
        search.totals.push_back(value);
      }
    }
  }

  void narrow_to(Search& search, std::uint64_t value) const {
    for (std::size_t run = 0; run < counts_.runs(); ++run) {
      const Cuts& few = search.here[run];
      const auto below = std::ranges::count_if(few, [&](std::uint64_t v) { return v < value; });
      const auto up_to = std::ranges::count_if(few, [&](std::uint64_t v) { return v <= value; });
      search.high[run] = search.low[run] + static_cast<std::uint64_t>(up_to);
      search.low[run] += static_cast<std::uint64_t>(below);
    }
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
    Searches tied;
    std::vector<std::uint64_t> left;
    std::vector<Cuts> ties;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Search& search = *open[i];
      if (search.is_found || goes_on_to_next_word(search)) continue;
      tied.push_back(&search);
      left.push_back(missing[i]);
      Cuts& of_runs = ties.emplace_back(search.high);
      std::ranges::transform(of_runs, search.low, of_runs.begin(), std::minus());
    }
    if (tied.empty()) return;
    const std::vector<Cuts> before = ties_before(team_, order_, ties);
    ++cost_.rounds;
    for (std::size_t i = 0; i < tied.size(); ++i) {
      for (std::size_t run = 0; run < counts_.runs(); ++run) {
        const std::uint64_t of_run = left[i] - std::min(left[i], before[i][run]);
        tied[i]->low[run] += std::min(of_run, ties[i][run]);
      }
      tied[i]->is_found = true;
    }
  }

  [[nodiscard]] bool goes_on_to_next_word(Search& search) const {
    if (search.word + 1 == counts_.words()) return false;
    ++search.word;
    search.values = {0, ~std::uint64_t{0}, static_cast<double>(search.totals[0]),
                     static_cast<double>(search.totals[1])};
    search.is_counted_before = search.is_counted_up_to = true;
    search.uses_fences = search.has_guess = false;  // they are of first words
    return true;
  }

  Team& team_;
  RunCounts& counts_;
  unsigned threads_;
  CutCost& cost_;
  const RunOrder& order_;
  std::vector<Search> searches_;
  std::uint64_t probes_ = kLeastProbes;
};

// Over all processes, each cut adds up to its position.
void require_positions(Team& team, const std::vector<Cuts>& cuts,
                       std::span<const std::uint64_t> positions) {
  std::vector<std::uint64_t> totals;
  for (const Cuts& cut : cuts) totals.push_back(sum_of(cut));
  team.sum(totals);
  const auto wrong = std::ranges::mismatch(positions, totals).in1;
  if (wrong != positions.end()) throw not_in_order(*wrong);
}

}  // namespace

std::vector<Cuts> find_cuts(Team& team, RunCounts& counts, std::uint64_t total,
                            std::span<const std::uint64_t> positions, unsigned threads,
                            CutCost* cost, const RunOrder& order) {
  CutCost own;
  if (cost == nullptr) cost = &own;
  CutSearch search(team, counts, threads, *cost, order);
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
  if (positions.empty()) return cuts;
  require_positions(team, cuts, positions);
  ++cost->rounds;
  return cuts;
}

}  // namespace gsort::cluster
