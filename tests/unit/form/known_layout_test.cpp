// Tests layouts of files that are damaged or made to deceive; cli.ends tests intact files.
#include "form/known_layout.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gsort {
namespace {

constexpr std::size_t kBlock = 2880;

std::string card(const std::string& name, const std::string& value) {
  return fmt::format("{:80}", fmt::format("{:8}= {:>20} / why", name, value));
}

// Returns a FITS header of whole blocks that ends with an END card.
std::string header(const std::string& cards) {
  std::string text = cards + fmt::format("{:80}", "END");
  text.resize((text.size() + kBlock - 1) / kBlock * kBlock, ' ');
  return text;
}

// Returns the options for a file of `file_bytes` that begins with `file`; else "none".
std::string options_of(const std::string& path, const std::string& file, std::uint64_t file_bytes) {
  const auto layout = layout_of(path, file_bytes, [&](std::uint64_t at, std::size_t bytes) {
    return at < file.size() ? file.substr(at, bytes) : std::string();
  });
  return layout ? layout->options : "none";
}

std::string options_of(const std::string& path, const std::string& file) {
  return options_of(path, file, file.size());
}

std::string options_of_fits(const std::string& headers) {
  constexpr std::uint64_t kDataBytes = 2880;
  return options_of("a", headers, headers.size() + kDataBytes);
}

std::string image(const std::string& bits, const std::string& length,
                  const std::string& more = "") {
  return header(card("SIMPLE", "T") + card("BITPIX", bits) + card("NAXIS", "1") +
                card("NAXIS1", length) + more);
}

std::string table(const std::string& row_bytes, const std::string& form,
                  const std::string& more = "") {
  return header(card("SIMPLE", "T") + card("NAXIS", "0")) +
         header(card("XTENSION", "'BINTABLE'") + card("BITPIX", "8") + card("NAXIS", "2") +
                card("NAXIS1", row_bytes) + card("NAXIS2", "7") + card("TFIELDS", "2") +
                card("TFORM1", "'3X'") + card("TFORM2", form) + more);
}

TEST(KnownLayout, SaysWhereTheElementsOfFitsFilesAre) {
  EXPECT_EQ(options_of_fits(image("-32", "12")), "--skip=2880 --elements=12 --endian=big -t f32");
  EXPECT_EQ(options_of_fits(table("9", "'D'")),
            "--skip=5760 --record=9 --elements=7 --endian=big --key=1:f64");
  EXPECT_EQ(options_of_fits(table("90", "'89A'")),
            "--skip=5760 --record=90 --elements=7 --endian=big --key=1:bytes32");
}

TEST(KnownLayout, IsNoneWhereAHeaderIsDamaged) {
  EXPECT_EQ(options_of_fits(image("-32", "12").substr(0, kBlock - 1)), "none");
  EXPECT_EQ(options_of_fits(image("7", "12")), "none");
  EXPECT_EQ(options_of_fits(image("-32", "99999999999999999999")), "none");
  EXPECT_EQ(options_of_fits(table("0", "'D'")), "none");
  EXPECT_EQ(options_of_fits(table("16385", "'D'")), "none");
  EXPECT_EQ(options_of_fits(table("9", "'Z'")), "none");
  EXPECT_EQ(options_of_fits(table("9", "''")), "none");
  EXPECT_EQ(options_of_fits(header(card("SIMPLE", "T") + card("NAXIS", "0"))), "none");
}

TEST(KnownLayout, IsNoneWhereDataAreCutOffOrTooMuchFollowsThem) {
  const std::string file = image("-32", "12");
  constexpr std::uint64_t kMostThatFollows = std::uint64_t{16} << 20;
  EXPECT_EQ(options_of("a", file, kBlock + 47), "none");
  EXPECT_NE(options_of("a", file, kBlock + 48), "none");
  EXPECT_NE(options_of("a", file, kBlock + 48 + kMostThatFollows), "none");
  EXPECT_EQ(options_of("a", file, kBlock + 49 + kMostThatFollows), "none");
}

TEST(KnownLayout, HasNoKeyWhereAScaleReversesTheOrder) {
  EXPECT_EQ(options_of_fits(image("16", "12", card("BSCALE", "-1.0"))), "none");
  EXPECT_NE(options_of_fits(image("16", "12", card("BSCALE", "0.5"))), "none");
  EXPECT_EQ(options_of_fits(table("9", "'D'", card("TSCAL2", "-1.0"))), "none");
  EXPECT_NE(options_of_fits(table("9", "'D'", card("TSCAL2", "2.0"))), "none");
}

TEST(KnownLayout, ComparesTheLengthsOfVectorsWithThatOfTheFile) {
  const std::string vector = {"\2\0\0\0abcdefgh", 12};
  EXPECT_EQ(options_of("a.FVECS", vector + vector), "--record=12 --key=4:f32");
  EXPECT_EQ(options_of("a.fvecs", vector + vector.substr(1)), "none");
  EXPECT_EQ(options_of("a.fvecs", std::string(12, '\0')), "none");
  EXPECT_EQ(options_of("a.fvecs", std::string(12, '\xff')), "none");
  EXPECT_EQ(options_of("a.fvecs", ""), "none");
}

TEST(KnownLayout, FindsTheNumberOfKeysOfASosdFile) {
  const std::string file = {"\2\0\0\0\0\0\0\0abcdefgh", 16};
  EXPECT_EQ(options_of("a", file), "--format=sosd -t u32");
  EXPECT_EQ(options_of("a", file + "abcdefgh"), "--format=sosd -t u64");
  EXPECT_EQ(options_of("a", file + "abc"), "none");
  EXPECT_EQ(options_of("a", std::string(16, '\xff')), "none");
  EXPECT_EQ(options_of("a", std::string(8, '\0')), "none");
}

}  // namespace
}  // namespace gsort
