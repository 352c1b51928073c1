// Sorted inputs that are read in steps: disorder is found within a step, and between two steps.
#include "pipeline/input/sorted_input.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "options/job.hpp"
#include "support/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

constexpr std::size_t kElements = 5000;

// Reads u32 keys, or pairs of a key and its count, in the smallest steps. Returns the message of
// the error, or an empty string if there was none.
template <class Element>
std::string error_of_reading(const std::vector<Element>& elements) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", std::as_bytes(std::span(elements)));
  Options options = test::options_for(KeyType::kU32);
  options.merge = true;
  options.count = sizeof(Element) > sizeof(std::uint32_t);
  const Job job = make_job(options);
  io::ReaderOptions form{
      sizeof(std::uint32_t), {DirectIo::kAuto}, {FileFormat::kBinary, Codec::kNone}};
  form.has_counts = options.count;
  io::Reader reader({folder / "in"}, form);
  Proof proof(job.element, true);
  const ElementOrder order(job.element);
  SortedInput input(reader, 0, job.input_element(), order, proof, nullptr);
  std::array<std::byte, SortedInput::kLeastRead> step{};
  std::size_t bytes = 0;
  try {
    while (const std::size_t read = input.read(step)) bytes += read;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  EXPECT_EQ(bytes, std::as_bytes(std::span(elements)).size());
  EXPECT_EQ(proof.input().count, elements.size());  // each count is 1
  return {};
}

// A key and its count of 64 bits, without the padding of a struct, as in a file.
struct Counted {
  std::uint32_t key = 0;
  std::array<std::uint32_t, 2> count = {1, 0};
};

TEST(SortedInput, NamesEachElementThatIsOutOfOrder) {
  std::vector<std::uint32_t> keys(kElements);
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = 10 + i / 3;
  EXPECT_EQ(error_of_reading(keys), "");
  for (const std::size_t at :
       {std::size_t{1}, std::size_t{1023}, std::size_t{1024}, kElements - 1}) {
    std::vector<std::uint32_t> damaged = keys;
    damaged[at] = 1;
    const std::string wanted = "element " + format_count(at) + " is out of order";
    EXPECT_TRUE(io::test::contains(error_of_reading(damaged), wanted)) << at;
  }
}

TEST(SortedInput, NamesEachCountThatIsNone) {
  std::vector<Counted> pairs(kElements);
  for (std::uint32_t i = 0; i < pairs.size(); ++i) pairs[i].key = i;
  EXPECT_EQ(error_of_reading(pairs), "");
  for (const std::size_t at : {std::size_t{0}, std::size_t{341}, kElements - 1}) {
    std::vector<Counted> damaged = pairs;
    damaged[at].count[0] = 0;
    EXPECT_TRUE(io::test::contains(error_of_reading(damaged), "has the count 0")) << at;
  }
  // A step of 4 KiB has 341 pairs.
  for (const std::size_t at : {std::size_t{1}, std::size_t{341}, std::size_t{682}}) {
    std::vector<Counted> damaged = pairs;
    damaged[at].key = damaged[at - 1].key;
    EXPECT_NE(error_of_reading(damaged), "") << at;
  }
}

}  // namespace
}  // namespace gsort
