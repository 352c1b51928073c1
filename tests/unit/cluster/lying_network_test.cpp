// Whole jobs over a network that lies with right checksums: no frame is damaged, but what arrives
// is not what was sent. The proof finds it, and the old output stays.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/frame.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::bytes_of;
using test::Keys;
using test::LocalNetwork;
using test::options_of;
using test::random_keys;

constexpr unsigned kProcesses = 3;

class LyingNetwork : public testing::Test {
 protected:
  // Each lie is about a frame that rank 1 sends; says whether it has told it.
  using Lie = std::function<bool(unsigned to, Message& frame)>;

  void expect_found(const Lie& lie, std::vector<const char*> more_words) const {
    const std::string input = folder_ / "in.u32";
    const std::string output = folder_ / "out.u32";
    const Keys old{1, 2, 3};
    io::test::write_file(input, bytes_of(random_keys(60'000, 1U << 31U)));
    io::test::write_file(output, bytes_of(old));
    std::vector<const char*> words = {"-S",          "40M", "--parallel=1",
                                      input.c_str(), "-o",  output.c_str()};
    words.insert(words.end(), more_words.begin(), more_words.end());
    const Options options = options_of(words);
    LocalNetwork network(kProcesses);
    bool has_lied = false;
    network.set_liar([&](unsigned from, unsigned to, Message& message) {
      const bool is_frame = test::envelope_of(message).kind == MessageKind::kFrame;
      if (is_frame && from == 1 && !has_lied) has_lied = lie(to, message);
      return 1U;
    });
    const std::string error = test::sort_by(network, options).error;
    EXPECT_TRUE(has_lied);
    EXPECT_NE(error.find("the output: "), std::string::npos) << error;
    const std::vector<std::byte> left = io::test::read_file(output);
    EXPECT_TRUE(std::ranges::equal(left, bytes_of(old)));
  }

  io::test::TempFolder folder_;
};

// The elements of a frame are others.
Message with_other_elements(const Message& message, const std::function<void(Keys&)>& change) {
  const Frame frame(message);
  Keys keys(frame.place().count);
  frame.unpack(sizeof(keys[0]), std::as_writable_bytes(std::span(keys)));
  change(keys);
  Message other = make_frame(frame.place(), bytes_of(keys), sizeof(keys[0]), true);
  std::memcpy(other.data(), message.data(), sizeof(Envelope));  // its number
  return other;
}

TEST_F(LyingNetwork, ThatChangesAKeyOrRepeatsOneIsFound) {
  const std::function<void(Keys&)> changes[] = {[](Keys& keys) { ++keys[keys.size() / 2]; },
                                                [](Keys& keys) { keys[1] = keys[0]; }};
  for (const auto& change : changes) {
    expect_found(
        [&](unsigned, Message& frame) {
          frame = with_other_elements(frame, change);
          return true;
        },
        {});
  }
}

// With -u there are two exchanges, which number their frames from 0 on.
TEST_F(LyingNetwork, ThatBringsAFrameOfAFormerExchangeIsFound) {
  std::map<std::tuple<unsigned, std::uint32_t>, Keys> former;
  expect_found(
      [&](unsigned to, Message& frame) {
        const std::uint32_t number = test::envelope_of(frame).number;
        bool has_lied = false;
        frame = with_other_elements(frame, [&](Keys& keys) {
          const auto [place, is_first] = former.try_emplace({to, number}, keys);
          if (is_first || place->second == keys || place->second.size() < keys.size()) return;
          has_lied = true;
          keys.assign(place->second.begin(),
                      place->second.begin() + static_cast<std::ptrdiff_t>(keys.size()));
        });
        return has_lied;
      },
      {"-u"});
}

}  // namespace
}  // namespace gsort::cluster
