// The processes of a host share its memory: a manifest that a single process would read is too
// long.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "cluster/cluster_sort.hpp"
#include "io/runs/manifest.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/system/host_facts.hpp"
#include "unit/cluster/local_peers.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

std::string error_of_sort_by(unsigned processes, const Options& options) {
  test::LocalNetwork network(processes, processes);
  std::string error;
  test::run_together(network, [&](Peers& peers) {
    Team team(peers, {});
    const auto verdict = team.run_job([&] {
      std::function<void()> on_leave;
      (void)sort_on_cluster(team, options, on_leave, nullptr);
    });
    if (peers.rank() == 0 && verdict) error = verdict->text;
  });
  return error;
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

TEST(ManifestMemory, IsThatOfEachProcess) {
  const io::test::TempFolder folder;
  constexpr std::uint64_t kMost = 200 * kMiB;  // a longer one is invalid
  const std::uint64_t limit_of_one = io::manifest_limit(io::host_facts().memory_bytes / 100);
  if (limit_of_one / 4 >= kMost) GTEST_SKIP() << "a quarter of the limit here is over the most";
  std::filesystem::create_directories(folder / "dir/gsort-0123456789abcdef");
  write_long_manifest(folder / "dir/gsort-0123456789abcdef/gsort.manifest",
                      std::min(limit_of_one / 5 * 3, kMost));
  io::test::write_file(folder / "in", test::bytes_of(test::random_keys(1000, 1000)));
  const std::string input = folder / "in";
  const std::string output = folder / "out";
  Options options =
      test::options_of({"-tu32", "-S1%", "--parallel=1", input.c_str(), "-o", output.c_str()});
  options.resume = folder / "dir";
  const std::string error = error_of_sort_by(4, options);
  EXPECT_TRUE(io::test::contains(error, "the memory of this sort has room for")) << error;
}

}  // namespace
}  // namespace gsort::cluster
