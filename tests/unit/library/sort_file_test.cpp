#include "library/sort_file.hpp"

#include <cstdint>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/system/sys.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using io::test::read_file;
using io::test::TempFolder;
using io::test::write_file;
using test::Bytes;

Options options_for(const TempFolder& folder, KeyType type) {
  Options options;
  options.inputs = {folder / "in"};
  options.output = folder / "out";
  options.key.type = type;
  return options;
}

TEST(SortFile, WritesTheSortedFileAndSaysWhatItDid) {
  const TempFolder folder;
  Options options = options_for(folder, KeyType::kF32);
  options.key.descending = true;
  const Bytes raw = test::generated(options.key, Distribution::kUniform, 100'000);
  write_file(folder / "in", raw);
  const SortedFile sorted = sort_file(options);
  EXPECT_EQ(read_file(folder / "out"), test::sorted_copy(raw, options.key));
  EXPECT_EQ(sorted.elements, 100'000U);
  EXPECT_EQ(sorted.bytes, 400'000U);
  EXPECT_EQ(sorted.runs, 0U);
  EXPECT_TRUE(sorted.verified);
}

TEST(SortFile, SpillsWhatDoesNotFit) {
  const TempFolder folder;
  Options options = options_for(folder, KeyType::kU64);
  options.buffer_size = "24M";
  options.temporary_directories = {folder.path()};
  const Bytes raw = test::generated(options.key, Distribution::kUniform, 8'000'000);
  write_file(folder / "in", raw);
  const SortedFile sorted = sort_file(options);
  EXPECT_EQ(read_file(folder / "out"), test::sorted_copy(raw, options.key));
  EXPECT_GT(sorted.runs, 1U);
  EXPECT_GT(sorted.spilled_bytes, 0U);
}

// Messages for a caller of the library name members, not options: no word begins with '-'.
Error error_thrown(const Options& options) {
  Error error = test::error_of([&] { static_cast<void>(sort_file(options)); });
  EXPECT_FALSE(error.hint().empty());
  static const std::regex option("(^|[^a-zA-Z0-9-])--?[a-zA-Z]");
  EXPECT_FALSE(
      std::regex_search(error.operation() + " " + error.reason() + " " + error.hint(), option))
      << error.what();
  return error;
}

ErrorKind kind_thrown(const Options& options) {
  return error_thrown(options).kind();
}

TEST(SortFile, LeavesNoOutputWhenItFails) {
  const TempFolder folder;
  EXPECT_EQ(kind_thrown(options_for(folder, KeyType::kI32)), ErrorKind::kInput);
  EXPECT_TRUE(folder.entries().empty());
}

TEST(SortFile, DoesNotWaitForItselfOnAFifo) {
  const TempFolder folder;
  Options options = options_for(folder, KeyType::kU8);
  options.output = options.inputs.front();
  ASSERT_EQ(::mkfifo(options.output->c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_EQ(kind_thrown(options), ErrorKind::kUsage);
}

TEST(SortFile, RefusesWhatIsNoSort) {
  const TempFolder folder;
  write_file(folder / "in", Bytes(16));
  const std::function<void(Options&)> changes[] = {
      [](Options& o) { o.inputs.clear(); },
      [](Options& o) { o.output.reset(); },
      [](Options& o) { o.check = CheckMode::kQuiet; },
      [](Options& o) { o.fingerprint = true; },
      [](Options& o) { o.expected.emplace(); },
      [](Options& o) { o.explain = ExplainMode::kText; },
      [](Options& o) { o.show = Show::kVersion; },
      [](Options& o) { o.each = true; },
      [](Options& o) { o.stats = "stats"; },
      [](Options& o) { o.trace = "trace"; },
      [](Options& o) { o.output = ""; },
      [](Options& o) { o.form = "folder"; },
      [](Options& o) {
        o.share = NumberOf{0, 1};
      },
      [](Options& o) {
        o.take = NumberOf{0, 1};
      },
      [](Options& o) { o.from = {"folder"}; },
      [](Options& o) { o.join = 1; },
      [](Options& o) { o.record_bytes = 4; },
  };
  for (const auto& change : changes) {
    Options options = options_for(folder, KeyType::kI32);
    change(options);
    EXPECT_EQ(kind_thrown(options), ErrorKind::kUsage);
  }
  EXPECT_EQ(folder.entries().size(), 1U);
}

TEST(SortFile, NamesMembersInErrors) {
  const TempFolder folder;
  write_file(folder / "in", Bytes(16));
  write_file(folder / "odd", Bytes(15));
  const std::string out = folder / "out";
  const struct {
    std::string member;
    std::function<void(Options&)> change;
  } cases[] = {
      {"unique", [](Options& o) { o.count = true; }},
      {"count", [](Options& o) { o.min_count = 2; }},
      {"merge", [](Options& o) { o.argsort = o.merge = true; }},
      {"merge", [](Options& o) { o.intersect = true; }},
      {"subtract", [](Options& o) { o.merge = o.subtract = true; }},
      {"split_output", [](Options& o) { o.split_output = 2; }},
      {"unique",
       [&](Options& o) {
         o.split_output = 2;
         o.unique = true;
         o.output = out + "{}";
       }},
      {"resume",
       [](Options& o) {
         o.resume = "folder";
         o.merge = true;
       }},
      {"writes_into_file",
       [](Options& o) {
         o.resume = "folder";
         o.writes_into_file = true;
       }},
      {"batch_elements",
       [](Options& o) {
         o.batch_elements = 2;
         o.merge = true;
       }},
      {"argsort",
       [](Options& o) {
         o.argsort = true;
         o.batch_elements = 2;
       }},
      {"buffer_size", [](Options& o) { o.buffer_size = "many"; }},
      {"buffer_size", [](Options& o) { o.buffer_size = "7"; }},
      {"gpu_memory", [](Options& o) { o.gpu_memory = "-1"; }},
      {"output_format", [&](Options& o) { o.output = out + ".csv"; }},
      {"compress", [&](Options& o) { o.output = out + ".gz.zst"; }},
      {"temporary_directories", [](Options& o) { o.temporary_directories = {"/none"}; }},
      {"record_bytes", [](Options& o) { o.record_bytes = 4; }},
      {"key.type", [&](Options& o) { o.inputs = {folder / "odd"}; }},
      {"input_form.skip_bytes", [&](Options& o) { o.inputs = {folder / "odd"}; }},
  };
  for (const auto& [member, change] : cases) {
    Options options = options_for(folder, KeyType::kU32);
    change(options);
    const Error error = error_thrown(options);
    EXPECT_NE(std::string(error.what()).find(member), std::string::npos)
        << member << ": " << error.what();
  }
  EXPECT_EQ(folder.entries().size(), 2U);
}

TEST(SortFile, LosesNothingThatIsAppendedWhileTheOutputIsSynced) {
  const std::function<void(Options&)> changes[] = {
      [](Options&) {},
      [](Options& o) { o.unique = true; },
      [](Options& o) { o.top = 10; },
      [](Options& o) { o.batch_elements = 50; },
      [](Options& o) { o.output_format = o.input_form.format = FileFormat::kText; },
  };
  for (const auto& change : changes) {
    const TempFolder folder;
    Options options = options_for(folder, KeyType::kU32);
    options.output = options.inputs.front();
    change(options);
    const std::string before = options.output_format ? "3\n1\n2\n" : std::string(400, 'x');
    std::ofstream(folder / "in") << before;
    io::sys::inject({io::sys::Call::kFsync, 1, 0, false,
                     [&] { std::ofstream(folder / "in", std::ios::app) << "tail"; }});
    const ErrorKind kind = kind_thrown(options);
    io::sys::clear_faults();
    EXPECT_EQ(kind, ErrorKind::kInput);
    std::stringstream after;
    after << std::ifstream(folder / "in").rdbuf();
    EXPECT_EQ(after.str(), before + "tail");
    EXPECT_EQ(folder.entries().size(), 1U);
  }
}

TEST(SortFile, NeverReplacesAnInputByOtherElements) {
  const TempFolder folder;
  const Bytes raw = test::generated({KeyType::kU32}, Distribution::kUniform, 100);
  const std::function<void(Options&)> changes[] = {
      [](Options& o) { o.argsort = true; },
      [](Options& o) { o.unique = o.count = true; },
      [](Options& o) { o.output_format = FileFormat::kText; },
      [](Options& o) { o.output_format = FileFormat::kNpy; },
      [](Options& o) { o.compress = Codec::kGzip; },
  };
  for (const auto& change : changes) {
    Options options = options_for(folder, KeyType::kU32);
    write_file(folder / "in", raw);
    options.output = options.inputs.front();
    change(options);
    EXPECT_EQ(kind_thrown(options), ErrorKind::kUsage);
    EXPECT_EQ(read_file(folder / "in"), raw);
    options.output = folder / "out";
    sort_file(options);
  }
}

// The command line has bounds for them.
TEST(SortFile, RefusesNumbersOutOfBounds) {
  const TempFolder folder;
  write_file(folder / "in", Bytes(16));
  const std::function<void(Options&)> changes[] = {
      [](Options& o) {
        o.output = *o.output + "-{}";
        o.split_output = 0;
      },
      [](Options& o) {
        o.output = *o.output + "-{}";
        o.split_output = 257;
      },
      [](Options& o) { o.parallel = 0; },
      [](Options& o) { o.parallel = 1'000'000; },
      [](Options& o) { o.batch_size = 1; },
      [](Options& o) { o.batch_elements = 0; },
      [](Options& o) {
        o.unique = o.count = true;
        o.min_count = 0;
      },
      [](Options& o) { o.input_form.skip_bytes = std::uint64_t{1} << 40; },
      [](Options& o) {
        o.compress = Codec::kGzip;
        o.compress_level = 10;
      },
      [](Options& o) { o.buffer_size = "much"; },
      [](Options& o) { o.gpu_memory = ""; },
      [](Options& o) { o.key.float_order = FloatOrder::kNumericByBits; },
      [](Options& o) { o.key.float_order = static_cast<FloatOrder>(3); },
      [](Options& o) {
        o.records = RecordFormat{4, {{.bytes = 4, .type = KeyType::kF32}}};
        o.records->keys[0].float_order = FloatOrder::kNumericByBits;
      },
      [](Options& o) { o.records = RecordFormat{}; },
      [](Options& o) {
        o.records = RecordFormat{4, {}};
      },
      [](Options& o) {
        o.records = RecordFormat{4, {KeyField{}}};
      },
      [](Options& o) {
        o.records = RecordFormat{1 << 20, {{.offset = 0, .bytes = 4, .type = {}}}};
      },
      [](Options& o) {
        o.records = RecordFormat{4, {{.offset = 2, .bytes = 4, .type = {}}}};
      },
      [](Options& o) {
        o.records = RecordFormat{4, {{.offset = 0, .bytes = 4, .type = KeyType::kU64}}};
      },
  };
  for (const auto& change : changes) {
    Options options = options_for(folder, KeyType::kI32);
    change(options);
    EXPECT_EQ(kind_thrown(options), ErrorKind::kUsage) << (&change - changes);
  }
  EXPECT_EQ(folder.entries().size(), 1U);
}

}  // namespace
}  // namespace gsort
