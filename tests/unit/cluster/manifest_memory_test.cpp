// -S bounds manifests of --resume, and the error names the host that has too little. The processes
// of a host share its memory: a manifest that a single process would read is too long for them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "io/runs/manifest.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/system/host_facts.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

std::string error_of_sort_by(unsigned processes, const Options& options) {
  test::LocalNetwork network(processes, processes);
  const auto on_one_host = [](const Peers&) {
    TeamOptions team_options;
    team_options.host = "node7";
    return team_options;
  };
  return test::sort_by(
             network, [&](unsigned) { return options; }, on_one_host)
      .error;
}

// A manifest of many names of which only the header is written: the rest is a hole.
void write_long_manifest(const std::string& path, std::uint64_t bytes) {
  io::Manifest manifest;
  manifest.has_places = true;
  std::vector<std::byte> text = io::encode_manifest(manifest);
  const auto inputs = static_cast<std::uint32_t>(bytes / 2000);
  constexpr std::size_t kBytesAt = 8;
  constexpr std::size_t kInputsAt = 48;
  std::memcpy(text.data() + kBytesAt, &bytes, sizeof bytes);
  std::memcpy(text.data() + kInputsAt, &inputs, sizeof inputs);
  io::test::write_file(path, text);
  std::filesystem::resize_file(path, bytes);
}

// The input is given several times; "." makes its name longer.
Options resuming(const io::test::TempFolder& folder, const std::string& memory,
                 std::size_t inputs = 1, std::size_t name_bytes = 0) {
  io::test::write_file(folder / "in", test::bytes_of(test::random_keys(1000, 1000)));
  std::string input = folder.path();
  while (input.size() < name_bytes) input += "/.";
  input += "/in";
  const std::string output = folder / "out";
  std::vector<const char*> words(inputs, input.c_str());
  words.insert(words.end(), {"-tu32", memory.c_str(), "--parallel=1", "-o", output.c_str()});
  Options options = test::options_of(words);
  options.resume = folder / "dir";
  return options;
}

void write_manifest(const io::test::TempFolder& folder, std::uint64_t bytes) {
  std::filesystem::create_directories(folder / "dir/gsort-0123456789abcdef");
  write_long_manifest(folder / "dir/gsort-0123456789abcdef/gsort.manifest", bytes);
}

constexpr const char* kNoRoom = "the memory of this sort has room for";

TEST(ManifestMemory, IsThatOfEachProcess) {
  const io::test::TempFolder folder;
  constexpr std::uint64_t kMost = 200 * kMiB;  // a longer one is invalid
  const std::uint64_t limit_of_one = io::manifest_limit(io::host_facts().memory_bytes / 100);
  unsigned processes = 4;
  while (limit_of_one / processes >= kMost) processes *= 2;
  write_manifest(folder, std::min(limit_of_one / 5 * 3, kMost));
  const std::string error = error_of_sort_by(processes, resuming(folder, "-S1%"));
  EXPECT_TRUE(io::test::contains(error, kNoRoom)) << error;
}

TEST(ManifestMemory, IsAnEighthOfTheSizeThatIsGiven) {
  const io::test::TempFolder folder;
  write_manifest(folder, 9 * kMiB);
  const std::string error = error_of_sort_by(2, resuming(folder, "-S64M"));
  EXPECT_TRUE(io::test::contains(error, kNoRoom)) << error;
}

TEST(ManifestMemory, TooLittleForNamesIsAnErrorOfTheHost) {
  const io::test::TempFolder folder;
  constexpr std::size_t kInputs = 450;  // each process opens all, and may open 1024 files
  constexpr std::size_t kNameBytes = 3950;
  const std::string error = error_of_sort_by(2, resuming(folder, "-S16M", kInputs, kNameBytes));
  EXPECT_TRUE(io::test::contains(error, kNoRoom)) << error;
  EXPECT_TRUE(io::test::contains(error, "on node7 (rank ")) << error;
}

TEST(ManifestMemory, AnErrorWithTheSizeIsOneOfTheHost) {
  const io::test::TempFolder folder;
  const std::string most = "-S" + std::to_string(io::host_facts().memory_bytes / 2) + "B";
  const std::string error = error_of_sort_by(4, resuming(folder, most));
  EXPECT_TRUE(io::test::contains(error, "for each of 4 processes")) << error;
  EXPECT_TRUE(io::test::contains(error, "on node7 (rank ")) << error;
  EXPECT_FALSE(std::filesystem::exists(folder / "dir"));
}

}  // namespace
}  // namespace gsort::cluster
