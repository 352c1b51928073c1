// Sorts in which something goes wrong: engines that lose, double or change keys, engines and disks
// that fail, runs that are damaged on the disk. Each must be an Error, and nothing may be left: no
// output, no temporary file, and what the output's name held before stays.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "support/engine_wrap.hpp"
#include "support/sort_run.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using io::test::contains;
using test::Bytes;
using test::EngineHooks;
using test::SortRequest;
using test::SortResult;

const Bytes& old_output() {
  static const Bytes bytes = io::test::bytes_of("what was there before");
  return bytes;
}

SortRequest request_with(EngineHooks hooks, bool spills, const std::string& engine = "cpu") {
  SortRequest request;
  request.format = {KeyType::kU32, false, false};
  request.input =
      test::generated(request.format, Distribution::kUniform, spills ? 2'500'000 : 100'000);
  request.budget = spills ? "6M" : "64M";
  request.old_output = old_output();
  request.make_engine = [hooks = std::move(hooks), maker = test::engine_maker(engine)](
                            const Plan& plan, const EngineShape& shape, ByteSpan memory) {
    return test::wrap_engine(maker(plan, shape, memory), hooks);
  };
  return request;
}

void expect_nothing_left(const SortRequest& request, const SortResult& result) {
  if (!request.to_pipe) {
    ASSERT_TRUE(result.output.has_value());
    EXPECT_TRUE(*result.output == old_output()) << "the old output was touched";
  }
  EXPECT_TRUE(result.left_in_temporary.empty());
  EXPECT_TRUE(result.left_in_folder.empty());
}

void expect_caught(const SortRequest& request, const SortResult& result) {
  ASSERT_TRUE(result.error) << "nobody noticed";
  EXPECT_EQ(result.error->kind(), ErrorKind::kCorrupt) << result.error->what();
  expect_nothing_left(request, result);
}

using Lie = std::function<void(Bytes& piece)>;

std::uint32_t key_at(const Bytes& piece, std::size_t i) {
  std::uint32_t key = 0;
  std::memcpy(&key, &piece[4 * i], 4);
  return key;
}

void set_key(Bytes& piece, std::size_t i, std::uint32_t key) {
  std::memcpy(&piece[4 * i], &key, 4);
}

// Lies that leave the order as it was, where they can.
struct NamedLie {
  const char* name;
  Lie lie;
};
const std::array<NamedLie, 5> kLies = {{
    {"LosesAPiece", [](Bytes& piece) { piece.clear(); }},
    {"LosesAKey", [](Bytes& piece) { piece.resize(piece.size() - 4); }},
    {"DoublesAKey", [](Bytes& piece) { set_key(piece, 7, key_at(piece, 8)); }},
    {"ChangesAKey", [](Bytes& piece) { set_key(piece, 7, key_at(piece, 7) + 1); }},
    {"SwapsTwoKeys",
     [](Bytes& piece) {
       const std::uint32_t first = key_at(piece, 0);
       const std::size_t last = piece.size() / 4 - 1;
       set_key(piece, 0, key_at(piece, last));
       set_key(piece, last, first);
     }},
}};

class LyingEngine : public testing::TestWithParam<NamedLie> {
 protected:
  // Tells the lie once, in the third piece of the half of the engine that `merging` says. The null
  // device, which takes pieces in any order, must see it, too.
  static void expect_lie_caught(bool merging, bool spills, bool verify = true) {
    auto pieces = std::make_shared<int>(0);
    EngineHooks hooks;
    hooks.on_piece = [=, lie = GetParam().lie](bool in_merge, std::uint64_t, Bytes& piece) {
      if (in_merge == merging && ++*pieces == 3) lie(piece);
    };
    SortRequest request = request_with(hooks, spills);
    request.verify = verify;
    request.to_null = true;
    const SortResult to_null = sort_in_folder(request);
    EXPECT_TRUE(to_null.error && to_null.error->kind() == ErrorKind::kCorrupt)
        << "to the null device";
    *pieces = 0;
    request.to_null = false;
    const SortResult result = sort_in_folder(request);
    EXPECT_GE(*pieces, 3);
    expect_caught(request, result);
  }
};

TEST_P(LyingEngine, IsCaughtWhileItWritesTheOnlyChunk) {
  expect_lie_caught(false, false);
}

TEST_P(LyingEngine, IsCaughtWhileItMakesRuns) {
  expect_lie_caught(false, true);
}

TEST_P(LyingEngine, IsCaughtWhileItMerges) {
  expect_lie_caught(true, true);
}

// Without the proof keys are still counted.
using UnprovenEngine = LyingEngine;

TEST_P(UnprovenEngine, IsCaughtWhenItLosesKeys) {
  for (const bool merging : {false, true}) {
    SCOPED_TRACE(merging);
    expect_lie_caught(merging, true, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, UnprovenEngine, testing::Values(kLies[0], kLies[1]),
                         [](const auto& lie) { return std::string(lie.param.name); });

INSTANTIATE_TEST_SUITE_P(Lies, LyingEngine, testing::ValuesIn(kLies),
                         [](const auto& lie) { return std::string(lie.param.name); });

// Where pieces wait for earlier ones, no thread must wait for one that never comes.
struct NamedOutput {
  const char* name;
  void (*choose)(SortRequest& request);
};
const std::array<NamedOutput, 5> kOrderedOutputs = {{
    {"Pipe", [](SortRequest& request) { request.to_pipe = true; }},
    {"Text", [](SortRequest& request) { request.output_format = FileFormat::kText; }},
    {"Zstd", [](SortRequest& request) { request.compress = Codec::kZstd; }},
    {"Unique", [](SortRequest& request) { request.unique = true; }},
    {"UniqueThroughAPipe",
     [](SortRequest& request) {
       request.unique = true;
       request.to_pipe = true;
     }},
}};

class EngineThatLeavesAPieceOut : public testing::TestWithParam<NamedOutput> {};

TEST_P(EngineThatLeavesAPieceOut, EndsTheSortOfOneChunk) {
  constexpr int kLastPiece = 0;
  for (const std::string engine : {"cpu", "std"}) {
    for (const unsigned threads : {1U, 2U, 5U}) {
      for (const int left_out : {1, 2, 3, kLastPiece}) {
        SCOPED_TRACE(engine + ", threads: " + std::to_string(threads) +
                     ", piece: " + std::to_string(left_out));
        auto pieces = std::make_shared<int>(0);
        EngineHooks hooks;
        hooks.on_put = [=](bool, std::vector<test::PutPiece>& put) {
          const bool is_last = 4 * put[0].position + put[0].elements.size() == 400'000;
          if (left_out == kLastPiece ? is_last : ++*pieces == left_out) put.clear();
        };
        SortRequest request = request_with(hooks, false, engine);
        request.threads = threads;
        GetParam().choose(request);
        expect_caught(request, sort_in_folder(request));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Outputs, EngineThatLeavesAPieceOut, testing::ValuesIn(kOrderedOutputs),
                         [](const auto& output) { return std::string(output.param.name); });

class FailingEngine : public testing::TestWithParam<bool> {};

TEST_P(FailingEngine, EndsTheSortWithItsError) {
  for (const bool merging : {false, true}) {
    for (const int failing : {1, 2, 40}) {
      auto pieces = std::make_shared<std::atomic<int>>(0);
      EngineHooks hooks;
      hooks.on_piece = [=](bool in_merge, std::uint64_t, Bytes&) {
        if (in_merge == merging && ++*pieces == failing) {
          throw Error(ErrorKind::kDevice, "sorting", "the engine broke");
        }
      };
      SortRequest request = request_with(hooks, true);
      request.to_pipe = GetParam();
      const SortResult result = sort_in_folder(request);
      ASSERT_TRUE(result.error) << "piece " << failing;
      EXPECT_EQ(result.error->kind(), ErrorKind::kDevice) << result.error->what();
      expect_nothing_left(request, result);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Outputs, FailingEngine, testing::Bool(), [](const auto& to_pipe) {
  return std::string(to_pipe.param ? "Stream" : "File");
});

// Overwrites one byte in every page of the unnamed files that this process has open in a folder
// called "temporary".
int damage_runs() {
  int damaged = 0;
  std::set<std::string> seen;  // a file may be open twice
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || !contains(target, "/temporary/") || !seen.insert(target).second) continue;
    const int fd = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    const off_t bytes = ::lseek(fd, 0, SEEK_END);
    for (off_t at = 300; at < bytes; at += 4096) {
      char byte = 0;
      if (::pread(fd, &byte, 1, at) != 1) continue;
      byte = static_cast<char>(byte ^ 0x10);
      damaged += ::pwrite(fd, &byte, 1, at) == 1 ? 1 : 0;
    }
    ::close(fd);
  }
  return damaged;
}

class DamagedRun : public testing::TestWithParam<bool> {};  // whether the sort proves its result

TEST_P(DamagedRun, IsAnErrorThatNamesBlockRunAndFolder) {
  for (const char* const engine : {"cpu", "std"}) {
    std::atomic<int> damaged{0};
    EngineHooks hooks;
    hooks.before_merge = [&] { damaged += damage_runs(); };
    SortRequest request = request_with(hooks, true, engine);
    request.verify = GetParam();
    const SortResult result = sort_in_folder(request);
    ASSERT_GT(damaged, 0) << "the test found no run to damage";
    expect_caught(request, result);
    const std::string message = result.error.value().what();
    EXPECT_TRUE(contains(message, "block")) << message;
    EXPECT_TRUE(contains(message, "run")) << message;
    EXPECT_TRUE(contains(result.error->path(), "temporary")) << message;
    EXPECT_FALSE(result.error->hint().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Proofs, DamagedRun, testing::Bool(), [](const auto& verify) {
  return std::string(verify.param ? "Proven" : "Unproven");
});

// Keys that an engine packs: a bit that changes on their way to a run or back, wherever in a block
// it is.
TEST(PackedKeysThatChange, AreCaughtOnTheirWayToARun) {
  for (const std::size_t at : {0U, 3U, 300U, 1'000U}) {
    SCOPED_TRACE(at);
    int changed = 0;
    EngineHooks hooks;
    hooks.on_stored = [&](bool merging, std::span<std::byte> payloads) {
      if (!merging && payloads.size() > at && ++changed == 2) payloads[at] ^= std::byte{4};
    };
    const SortRequest request = request_with(hooks, true, "std");
    const SortResult result = sort_in_folder(request);
    ASSERT_GE(changed, 2) << "nothing was packed";
    expect_caught(request, result);
  }
}

TEST(PackedKeysThatChange, AreCaughtOnTheirWayToAMerge) {
  int changed = 0;
  EngineHooks hooks;
  hooks.on_stored = [&](bool merging, std::span<std::byte> payloads) {
    // The first key of the first block, in every part: of others than the first it may not be
    // wanted, but parts come in any order.
    if (merging && ++changed > 0) payloads[1] ^= std::byte{4};
  };
  const SortRequest request = request_with(hooks, true, "std");
  const SortResult result = sort_in_folder(request);
  ASSERT_GE(changed, 1) << "nothing was unpacked";
  expect_caught(request, result);
}

TEST(FailingDisk, EndsTheSortAndLeavesNothing) {
  for (const io::sys::Call call : {io::sys::Call::kPread, io::sys::Call::kPwrite}) {
    for (const std::uint64_t nth : {1U, 3U, 12U, 30U}) {
      SortRequest request = request_with({}, true);
      SortResult result;
      {
        const io::test::FaultScope fault({call, nth, EIO, true});
        result = sort_in_folder(request);
      }
      ASSERT_TRUE(result.error) << io::sys::name_of(call) << ' ' << nth;
      EXPECT_EQ(result.error->error_number(), EIO) << result.error->what();
      expect_nothing_left(request, result);
    }
  }
}

TEST(GrowingInput, IsAnError) {
  EngineHooks hooks;
  hooks.on_piece = [](bool, std::uint64_t, Bytes&) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const auto target = std::filesystem::read_symlink(entry.path(), gone);
      if (gone || target.filename() != "in") continue;
      const int fd = ::open(target.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      EXPECT_EQ(::write(fd, "more", 4), 4);
      ::close(fd);
      return;
    }
  };
  const SortRequest request = request_with(hooks, false);
  const SortResult result = sort_in_folder(request);
  ASSERT_TRUE(result.error) << "nobody noticed";
  EXPECT_EQ(result.error->kind(), ErrorKind::kInput) << result.error->what();
  expect_nothing_left(request, result);
}

}  // namespace
}  // namespace gsort
