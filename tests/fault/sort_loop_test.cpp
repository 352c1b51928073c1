// The fault loop over whole sorts: command lines of every strategy, run inside this process with
// the Nth call of every kind failing, N = 1, 2, ... until a run is clean. Each time either the
// output holds what std::sort makes of the input, or there is an Error that names operation and
// path, the old output is intact, and the folders are as they were; what a sort that can be resumed
// has left, it goes on with.
//
// By default some errors stand for all, and N grows in strides; with GSORT_EVERY_FAULT set nothing
// is left out.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/input/reader.hpp"
#include "library/sort_file.hpp"
#include "options/options.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"
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

// What test lists call it.
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
    if (once.empty() || !std::equal(at, at + 4, once.end() - 4)) {
      once.insert(once.end(), at, at + 4);
    }
  }
  return once;
}

Bytes first_hundred(const Bytes& input) {
  Bytes all = sorted(input);
  all.resize(400);
  return all;
}

Bytes arrays_of_a_thousand(const Bytes& input) {
  Bytes all;
  for (auto at = input.begin(); at != input.end();) {
    const auto end = at + std::min<std::ptrdiff_t>(input.end() - at, 4000);
    const Bytes array = sorted(Bytes(at, end));
    all.insert(all.end(), array.begin(), array.end());
    at = end;
  }
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
      {.name = "Resumable",
       .options = {"-S", "2M", "--batch-size=4"},
       .keys = kSpilled,
       .expected = sorted,
       .resumes = true},
      {"Distinct", {"-u"}, kFew, distinct},
      {"Top", {"--top=100"}, kFew, first_hundred},
      {"Arrays", {"--batch-elements=1000"}, kFew, arrays_of_a_thousand},
      {"ArraysAsText",
       {"--batch-elements=1000", "--format=bin:text", "-S", "3M", "--direct-io=on"},
       kSpilled,
       arrays_of_a_thousand},
      {"Counted", {}, kFew, counted, KeyType::kU8, 1},
      {"Records", {"--record=16", "--key=0:u32", "-S", "3M"}, kSpilled, records, KeyType::kU32, 16},
      {"Text", {"--format=bin:text"}, kFew, sorted},
      {"Array", {"--format=bin:npy"}, kFew, sorted},
      {"Gzip", {"--compress=gzip"}, kFew, sorted},
      {"Bzip2", {"--compress=bzip2"}, kFew, sorted},
      {"Xz", {"--compress=xz:1"}, kFew, sorted},
      {"Zstd", {"--compress=zstd"}, kFew, sorted},
  };
  return all;
}

// What is done to a call, and whether all later ones meet it, too.
struct Fault {
  io::sys::Call call;
  int error_number;
  bool from_then_on;
};

bool wants_every_fault() {
  static const bool every = std::getenv("GSORT_EVERY_FAULT") != nullptr;
  return every;
}

std::vector<Fault> faults() {
  std::vector<int> once = {EIO, ENOSPC, EINTR, 0};
  std::vector<int> persistent = {EIO};
  if (wants_every_fault()) {
    once.insert(once.end(), {EDQUOT, ENOMEM, EMFILE, EFBIG, EINVAL});
    persistent.insert(persistent.end(), {ENOSPC, EDQUOT, ENOMEM, EMFILE, EFBIG});
  }
  std::vector<Fault> all;
  for (std::size_t kind = 0; kind < io::sys::kCallKinds; ++kind) {
    const auto call = static_cast<io::sys::Call>(kind);
    for (const int number : once) all.push_back({call, number, false});
    for (const int number : persistent) all.push_back({call, number, true});
  }
  return all;
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
                          error->path() == folder_.path() &&
                          error->hint().starts_with("the new output is in place");
    EXPECT_TRUE(found == (error && !in_place ? old_ : whole_)) << (error ? error->what() : "");
    EXPECT_EQ(folder_.entries().size(), 2U) << "something is left beside the output";
    EXPECT_TRUE((sort_.resumes || first_.entries().empty()) && second_.entries().empty());
    EXPECT_TRUE(read_file(folder_ / "in") == input_) << "the input was changed";
    if (!error) return;
    EXPECT_FALSE(error->operation().empty());
    EXPECT_FALSE(error->hint().empty()) << error->what();
    EXPECT_TRUE(!error->path().empty() || error->kind() == ErrorKind::kResource) << error->what();
  }

  // What a sort that can be resumed has left is what it needs. Its folder may be left, empty.
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
    std::vector<std::string> words = {
        "gsort", "-t", std::string(name_of(sort_.type)), "--parallel", "2", "-o", out()};
    const std::vector<std::string> places =
        sort_.resumes ? std::vector<std::string>{"--resume", first_ / "runs"}
                      : std::vector<std::string>{"-T", first_.path(), "-T", second_.path()};
    words.insert(words.end(), places.begin(), places.end());
    words.insert(words.end(), sort_.options.begin(), sort_.options.end());
    words.push_back(folder_ / "in");
    std::vector<const char*> line;
    for (const std::string& word : words) line.push_back(word.c_str());
    const auto nothing = [](const char*) -> const char* { return nullptr; };
    return parse_options(static_cast<int>(line.size()), line.data(), nothing);
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
      keys.insert(keys.end(), block.begin(),
                  block.begin() + static_cast<std::ptrdiff_t>(read->bytes));
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
  return wants_every_fault() || nth < 3 ? nth + 1 : nth * 3;
}

class FaultsInSorts : public testing::TestWithParam<SortCase> {};

TEST_P(FaultsInSorts, EndRightOrWithAnErrorAndTheOldOutput) {
  Place place(GetParam());
  place.expect_right_without_faults();
  int met = 0;
  for (const Fault& fault : faults()) {
    bool hit = true;
    for (std::uint64_t nth = 1; hit; nth = after(nth)) {
      SCOPED_TRACE(testing::Message()
                   << io::sys::name_of(fault.call) << ' ' << nth << " fails with "
                   << fault.error_number << (fault.from_then_on ? " on" : ""));
      std::optional<Error> error;
      {
        const io::test::FaultScope scope({fault.call, nth, fault.error_number, fault.from_then_on});
        error = place.sort();
        hit = io::sys::counted_calls() >= nth;
      }
      place.expect_right_or_as_before(error);
      place.expect_resumed();
      if (!hit) {
        EXPECT_FALSE(error) << error->what();
      }
      met += hit ? 1 : 0;
      if (testing::Test::HasFailure()) return;
    }
  }
  RecordProperty("faults", met);
  EXPECT_GT(met, 50);
}

INSTANTIATE_TEST_SUITE_P(Sorts, FaultsInSorts, testing::ValuesIn(cases()),
                         [](const auto& sort) { return std::string(sort.param.name); });

}  // namespace
}  // namespace gsort
