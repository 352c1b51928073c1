// The fault loop over whole sorts: command lines of every strategy, run inside this process with
// the Nth call of every kind failing, N = 1, 2, ... until a run is clean. Each time either the
// output is that of std::sort, or there is an Error that names operation and path, the old output
// is intact, and the folders are unchanged; a sort that can be resumed continues. In a sort by
// several processes (--form, --take, --join), the command that failed is repeated, and then the
// others follow. By default, N grows in strides, and a seed (support/some_of.hpp) chooses a third
// of a few errors, or a sixth if the sort spills; with GSORT_EVERY_FAULT, the test tries all.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/files.hpp"
#include "app/shares.hpp"
#include "base/current_error.hpp"
#include "io/input/reader.hpp"
#include "library/sort_file.hpp"
#include "options/options.hpp"
#include "support/some_of.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"
#include "unit/app/at_once.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using io::test::bytes_of;
using io::test::read_file;
using io::test::TempFolder;
using io::test::write_file;
using test::Bytes;

constexpr KeyFormat kU32{KeyType::kU32, false, false};
constexpr std::uint64_t kSpilled = 300'000;  // keys that take several runs under -S 2M
constexpr std::uint64_t kFew = 20'000;

struct SortCase {
  const char* name;
  std::vector<std::string> options;
  std::uint64_t keys;
  std::function<Bytes(const Bytes& input)> expected;  // raw keys
  KeyType type = KeyType::kU32;
  std::size_t element_bytes = 4;
  bool resumes = false;  // keeps its runs, and goes on with them when nothing fails any more
};

void PrintTo(const SortCase& sort, std::ostream* out) {
  *out << sort.name;
}

Bytes sorted(const Bytes& input) {
  return test::sorted_copy(input, kU32);
}

Bytes distinct(const Bytes& input) {
  const Bytes all = sorted(input);
  Bytes once;
  for (auto at = all.begin(); at != all.end(); at += 4) {
    const bool repeats = !once.empty() && std::equal(at, at + 4, once.end() - 4);
    if (!repeats) once.insert(once.end(), at, at + 4);
  }
  return once;
}

Bytes first_hundred(const Bytes& input) {
  const Bytes all = sorted(input);
  return {all.begin(), all.begin() + 400};
}

Bytes arrays_of_a_thousand(const Bytes& input) {
  return test::sorted_arrays(input, 4000, sorted);
}

Bytes between_ends(const Bytes& input) {
  Bytes all = input;
  std::ranges::copy(sorted(Bytes(input.begin() + 8, input.end() - 12)), all.begin() + 8);
  return all;
}

Bytes counted(const Bytes& input) {
  return test::sorted_copy(input, {KeyType::kU8, false, false});
}

Bytes records(const Bytes& input) {
  RecordFormat format;
  format.bytes = 16;
  format.keys = {{.offset = 0, .bytes = 4, .type = KeyType::kU32}};
  return test::stably_sorted(input, format);
}

const std::vector<SortCase>& cases() {
  static const std::vector<SortCase> all = {
      {"OneChunk", {}, kFew, sorted},
      {"Spilling", {"-S", "2M"}, kSpilled, sorted},
      {"SeveralPasses", {"-S", "2M", "--batch-size=2"}, kSpilled, sorted},
      {"Unpacked", {"-S", "2M", "--pack-runs=off"}, kSpilled, sorted},
      {"AroundThePageCache", {"-S", "2M", "--direct-io=on"}, kSpilled, sorted},
      {"ThroughThePageCache", {"-S", "2M", "--direct-io=off"}, kSpilled, sorted},
      {"Resumable", {"-S", "2M", "--batch-size=4"}, kSpilled, sorted, KeyType::kU32, 4, true},
      {"Distinct", {"-u"}, kFew, distinct},
      {"Top", {"--top=100"}, kFew, first_hundred},
      {"Arrays", {"--batch-elements=1000"}, kFew, arrays_of_a_thousand},
      {"ArraysAsText",
       {"--batch-elements=1000", "--format=bin:text", "-S", "3M", "--direct-io=on"},
       kSpilled,
       arrays_of_a_thousand},
      {"Counted", {}, kFew, counted, KeyType::kU8, 1},
      {"Records", {"--record=16", "--key=0:u32", "-S", "3M"}, kSpilled, records, KeyType::kU32, 16},
      {"Ends", {"-S", "2M", "--skip=8", "--skip-end=12"}, kSpilled, between_ends},
      {"Text", {"--format=bin:text"}, kFew, sorted},
      {"Array", {"--format=bin:npy"}, kFew, sorted},
      {"Gzip", {"--compress=gzip"}, kFew, sorted},
      {"Bzip2", {"--compress=bzip2"}, kFew, sorted},
      {"Xz", {"--compress=xz:1"}, kFew, sorted},
      {"Zstd", {"--compress=zstd"}, kFew, sorted},
  };
  return all;
}

// The action on a call, and whether it also applies to all later ones.
struct Fault {
  io::sys::Call call;
  int error_number;
  bool from_then_on;
};

const bool kWantsEveryFault = std::getenv("GSORT_EVERY_FAULT") != nullptr;

std::vector<Fault> faults(unsigned one_in) {
  std::vector<int> once = {EIO, ENOSPC, EINTR, 0};
  std::vector<int> persistent = {EIO};
  if (kWantsEveryFault) {
    once.insert(once.end(), {EDQUOT, ENOMEM, EMFILE, EFBIG, EINVAL});
    persistent.insert(persistent.end(), {ENOSPC, EDQUOT, ENOMEM, EMFILE, EFBIG});
  }
  std::vector<Fault> all;
  std::size_t turn = test::seed_of_cases() % one_in;
  const auto add = [&](const Fault& fault) {
    if (kWantsEveryFault || ++turn % one_in == 0) all.push_back(fault);
  };
  for (std::size_t kind = 0; kind < io::sys::kCallKinds; ++kind) {
    const auto call = static_cast<io::sys::Call>(kind);
    for (const int number : once) add({call, number, false});
    for (const int number : persistent) add({call, number, true});
  }
  return all;
}

void expect_well_formed(const Error& error) {
  EXPECT_FALSE(error.operation().empty());
  EXPECT_FALSE(error.hint().empty()) << error.what();
  EXPECT_TRUE(!error.path().empty() || error.kind() == ErrorKind::kResource) << error.what();
}

bool says_in_place(const Error& error) {
  return error.hint().starts_with("the new output is in place");
}

Options options_of(const std::vector<std::string>& words) {
  std::vector<const char*> line = {"gsort", "--parallel=2"};
  for (const std::string& word : words) line.push_back(word.c_str());
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  return parse_options(static_cast<int>(line.size()), line.data(), nothing);
}

// The folders and files of one case.
class Place {
 public:
  explicit Place(const SortCase& sort) : sort_(sort) {
    const Bytes raw = test::generated({sort.type, false, false}, Distribution::kZipf, sort.keys);
    const std::size_t whole = raw.size() / sort.element_bytes * sort.element_bytes;
    input_.assign(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(whole));
    write_file(folder_ / "in", input_);
    options_ = parsed();
  }

  // Sorts over an old output; the Error, if there is one.
  std::optional<Error> sort() const {
    write_file(out(), old_);
    try {
      static_cast<void>(sort_file(options_));
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }

  // The first run, in which nothing fails, says what the output's bytes must be ever after.
  void expect_right_without_faults() {
    ASSERT_FALSE(sort());
    whole_ = read_file(out());
    EXPECT_TRUE(keys_of_output() == sort_.expected(input_));
    EXPECT_FALSE(whole_ == old_);
  }

  void expect_right_or_as_before(const std::optional<Error>& error) const {
    const Bytes found = read_file(out());
    // The one failure after which the new output is in place: the sync of its folder.
    const bool in_place = error && error->operation() == "syncing" &&
                          error->path() == folder_.path() && says_in_place(*error);
    EXPECT_TRUE(found == (error && !in_place ? old_ : whole_)) << (error ? error->what() : "");
    EXPECT_EQ(folder_.entries().size(), 2U) << "something is left beside the output";
    EXPECT_TRUE((sort_.resumes || first_.entries().empty()) && second_.entries().empty());
    EXPECT_TRUE(read_file(folder_ / "in") == input_) << "the input was changed";
    if (error) expect_well_formed(*error);
  }

  // A sort that can be resumed leaves only files that it needs. Its empty folder may be left.
  void expect_resumed() const {
    if (first_.entries().empty()) return;
    const std::optional<Error> error = sort();
    EXPECT_FALSE(error) << error->what();
    EXPECT_TRUE(read_file(out()) == whole_);
    std::filesystem::remove(first_ / "runs");
    EXPECT_TRUE(first_.entries().empty()) << "something is left of the runs";
  }

 private:
  [[nodiscard]] std::string out() const { return folder_ / "out"; }

  [[nodiscard]] Options parsed() const {
    std::vector<std::string> words = {"-t", std::string(name_of(sort_.type)), "-o", out()};
    const std::vector<std::string> places =
        sort_.resumes ? std::vector<std::string>{"--resume", first_ / "runs"}
                      : std::vector<std::string>{"-T", first_.path(), "-T", second_.path()};
    words.insert(words.end(), places.begin(), places.end());
    words.insert(words.end(), sort_.options.begin(), sort_.options.end());
    words.push_back(folder_ / "in");
    return options_of(words);
  }

  [[nodiscard]] Bytes keys_of_output() const {
    io::ReaderOptions form;
    form.element_bytes = sort_.element_bytes;
    form.key.type = sort_.type;
    form.form.format = options_.output_format;
    io::Reader reader({out()}, form);
    Bytes keys;
    Bytes block(std::size_t{1} << 20);
    while (const auto read = reader.next(block)) {
      std::copy_n(block.begin(), read->bytes, std::back_inserter(keys));
    }
    return keys;
  }

  const Bytes old_ = bytes_of("old");
  const SortCase& sort_;
  const TempFolder folder_;
  const TempFolder first_;
  const TempFolder second_;
  Bytes input_;
  Options options_;
  Bytes whole_;
};

std::uint64_t after(std::uint64_t nth) {
  return kWantsEveryFault || nth < 3 ? nth + 1 : nth * 3;
}

// For one fault in `one_in`, at call 1, 2, ... until sort() no longer meets it: calls begin(), then
// sort() with the fault, then look() with the Error, if any. With `must_sync`, EIO from a sync must
// be an Error.
template <class Begin, class Sort, class Look>
void with_every_fault(unsigned one_in, const Begin& begin, const Sort& sort, const Look& look,
                      bool must_sync) {
  unsigned met = 0;
  for (const Fault& fault : faults(one_in)) {
    bool hit = true;
    for (std::uint64_t nth = 1; hit; nth = after(nth)) {
      SCOPED_TRACE(testing::Message()
                   << io::sys::name_of(fault.call) << ' ' << nth << " fails with "
                   << fault.error_number << (fault.from_then_on ? " on" : ""));
      begin();
      std::optional<Error> error;
      {
        const io::test::FaultScope scope({fault.call, nth, fault.error_number, fault.from_then_on});
        error = sort();
        hit = io::sys::counted_calls() >= nth;
      }
      look(error);
      if (error && fault.call == io::sys::Call::kStat && fault.error_number != 0) {
        EXPECT_EQ(error->error_number(), fault.error_number) << error->what();
      }
      if (!hit) {
        EXPECT_FALSE(error) << error->what();
      } else if (must_sync && fault.call == io::sys::Call::kFsync && fault.error_number == EIO) {
        EXPECT_TRUE(error) << "what could not be synced is said to be on the disk";
      }
      met += hit ? 1 : 0;
      if (testing::Test::HasFailure()) return;
    }
  }
  testing::Test::RecordProperty("faults", static_cast<int>(met));
  EXPECT_GT(met, 45 / one_in);
}

class FaultsInSorts : public testing::TestWithParam<SortCase> {};

TEST_P(FaultsInSorts, EndRightOrWithAnErrorAndTheOldOutput) {
  Place place(GetParam());
  place.expect_right_without_faults();
  with_every_fault(
      GetParam().keys == kSpilled ? 6 : 3, [] {}, [&] { return place.sort(); },
      [&](const std::optional<Error>& error) {
        place.expect_right_or_as_before(error);
        place.expect_resumed();
      },
      false);
}

INSTANTIATE_TEST_SUITE_P(Sorts, FaultsInSorts, testing::ValuesIn(cases()),
                         [](const auto& sort) { return std::string(sort.param.name); });

enum class Step : std::uint8_t { kForm, kTake, kJoin };

struct StepCase {
  const char* name;
  Step step;
  bool has_own_files;
  bool is_repeated = false;  // the step has been done before
};

void PrintTo(const StepCase& step, std::ostream* out) {
  *out << step.name;
}

// Two shares, and two parts of the output: of one array, or the distinct keys in files of their
// own.
class PlaceOfShares {
 public:
  explicit PlaceOfShares(const StepCase& step)
      : step_(step), names_(step.has_own_files ? Names{"out-0", "out-1"} : Names{"out.npy"}) {
    write_file(folder_ / "in", input_);
    expect_done(Step::kForm);
    begin();
    expect_all_done_from(step_.step);
    for (const std::string& name : names_) whole_.push_back(read_file(folder_ / name));
  }

  // All as it is before the step, with old outputs.
  void begin() const {
    for (const std::string& name : folder_.entries()) {
      if (name.starts_with('.')) std::filesystem::remove(folder_ / name);
    }
    for (const std::string& name : names_) {
      write_file(folder_ / name, old_);
      std::filesystem::permissions(folder_ / name, kOldMode);
    }
    if (step_.step == Step::kForm) {
      for (const char* const share : {"0", "1"}) std::filesystem::remove_all(shares_ / share);
    }
    if (step_.step == Step::kJoin) expect_done(Step::kTake);
    if (step_.is_repeated) expect_done(step_.step);
  }

  // Gives the commands of the step up to the first one that has an error.
  [[nodiscard]] std::optional<Error> give_step() const { return give(step_.step); }

  void expect_right_or_as_before(const std::optional<Error>& error) const {
    EXPECT_TRUE(read_file(folder_ / "in") == input_) << "the input was changed";
    const bool joins = step_.step == Step::kJoin;
    const bool must_be_new = joins && (step_.is_repeated || !error || says_in_place(*error));
    const bool may_be_new = must_be_new || (joins && step_.has_own_files);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Bytes found = read_file(folder_ / names_[i]);
      EXPECT_TRUE((!must_be_new && found == old_) || (may_be_new && found == whole_[i]))
          << names_[i] << (error ? error->what() : "");
      EXPECT_EQ(std::filesystem::status(folder_ / names_[i]).permissions(), kOldMode);
    }
    if (error) expect_well_formed(*error);
  }

  // The step's commands are given again, and then the others.
  void expect_done_again() const { expect_all_done_from(step_.step); }

 private:
  using Names = std::vector<std::string>;
  // New outputs have the mode of the old ones.
  static constexpr std::filesystem::perms kOldMode{0600};

  static std::set<std::string> entries_of(const TempFolder& folder) {
    const Names names = folder.entries();
    return {names.begin(), names.end()};
  }

  void expect_all_done_from(Step first) const {
    for (const Step step : {Step::kForm, Step::kTake, Step::kJoin}) {
      if (step >= first) expect_done(step);
    }
    Bytes keys;
    std::set<std::string> wanted = {"in"};
    for (const std::string& name : names_) {
      wanted.insert({name, "." + name + ".gsort-joined"});
      const Bytes part = read_file(folder_ / name);
      const std::ptrdiff_t header = step_.has_own_files ? 0 : 128;
      keys.insert(keys.end(), part.begin() + header, part.end());
    }
    EXPECT_TRUE(keys == (step_.has_own_files ? distinct(input_) : sorted(input_)));
    EXPECT_EQ(entries_of(folder_), wanted);
    EXPECT_EQ(entries_of(shares_), (std::set<std::string>{"0", "1"}));
    EXPECT_TRUE(temporary_.entries().empty());
  }

  void expect_done(Step step) const {
    const std::optional<Error> error = give(step);
    EXPECT_FALSE(error) << error->what();
  }

  [[nodiscard]] std::optional<Error> give(Step step) const {
    try {
      if (step == Step::kJoin) {
        (void)join(options_of({"--join=2", "-o", output()}));
        return std::nullopt;
      }
      for (const char* const number : {"0", "1"}) {
        Meter meter;
        if (step == Step::kForm) {
          form_share(number, meter);
        } else {
          take_part(number, meter);
        }
      }
    } catch (...) {
      return current_error();
    }
    return std::nullopt;
  }

  void form_share(const std::string& number, Meter& meter) const {
    const Options options = options_of({"-t", "u32", "-S", "2M", "--form=" + (shares_ / number),
                                        "--share=" + number + "/2", folder_ / "in"});
    io::Reader reader(options.inputs, reader_options(options));
    (void)form(options, job_of(options, reader), reader, meter);
  }

  void take_part(const std::string& number, Meter& meter) const {
    std::vector<std::string> words = {
        "-S", "2M",    "--batch-size=2", "-T", temporary_.path(), "--take=" + number + "/2",
        "-o", output()};
    for (const char* const share : {"0", "1"}) words.push_back("--from=" + (shares_ / share));
    if (step_.has_own_files) words.emplace_back("-u");
    (void)take(options_of(words), meter);
  }

  [[nodiscard]] std::string output() const {
    return folder_ / (step_.has_own_files ? "out-{}" : "out.npy");
  }

  const Bytes old_ = bytes_of("old");
  const Bytes input_ = test::generated(kU32, Distribution::kZipf, 100'000);
  const StepCase step_;
  const Names names_;
  const TempFolder folder_;
  const TempFolder shares_;
  const TempFolder temporary_;
  std::vector<Bytes> whole_;
};

class FaultsInShares : public testing::TestWithParam<StepCase> {
 protected:
  static void SetUpTestSuite() { test::use_folders_in_memory(); }
};

TEST_P(FaultsInShares, EndRightOrWithAnErrorAndTheSameCommandContinues) {
  const PlaceOfShares place(GetParam());
  with_every_fault(
      3, [&] { place.begin(); }, [&] { return place.give_step(); },
      [&](const std::optional<Error>& error) {
        place.expect_right_or_as_before(error);
        place.expect_done_again();
      },
      GetParam().step != Step::kForm);  // --form goes on in another folder
}

INSTANTIATE_TEST_SUITE_P(Steps, FaultsInShares,
                         testing::Values(StepCase{"Form", Step::kForm, false},
                                         StepCase{"Take", Step::kTake, false},
                                         StepCase{"TakeOwnFile", Step::kTake, true},
                                         StepCase{"Join", Step::kJoin, false},
                                         StepCase{"JoinOwnFiles", Step::kJoin, true},
                                         StepCase{"JoinAgain", Step::kJoin, false, true},
                                         StepCase{"JoinOwnFilesAgain", Step::kJoin, true, true}),
                         [](const auto& step) { return std::string(step.param.name); });

}  // namespace
}  // namespace gsort
