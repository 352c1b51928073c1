#include "app/rates_file.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

namespace fs = std::filesystem;

class KeptRates : public testing::Test {
 protected:
  [[nodiscard]] RatesFile file(const std::string& processor = "a processor") const {
    return {(folder_ / "cache").c_str(), nullptr, processor};
  }
  [[nodiscard]] std::string name() const { return folder_ / "cache/gsort/rates.json"; }
  void put(const std::string& text) const {
    fs::create_directories(folder_ / "cache/gsort");
    io::test::write_file(name(), io::test::bytes_of(text));
  }
  [[nodiscard]] Rates read(const std::string& text) {
    put(text);
    problem_.clear();
    return file().read(problem_);
  }

  io::test::TempFolder folder_;
  std::string problem_;
};

TEST_F(KeptRates, ComeBackAsTheyWere) {
  for (const Rates& rates :
       {Rates{0.5e9, 27.5e9, 0.31}, Rates{1.0 / 3 * 1e9, {}, {}}, Rates{{}, 12e9, 0.2},
        Rates{{}, {}, {}, Limits{3e9, 2e9, 200e9}}, Rates{}}) {
    file().write(rates);
    EXPECT_EQ(file().read(problem_), rates);
    EXPECT_EQ(problem_, "");
  }
}

TEST(LearnedWords, NameTheRatesThatAreNewAndTheirFile) {
  const Rates before{0.5e9, {}, 0.31};
  EXPECT_EQ(learned_words(before, {0.6e9, {}, 0.31}, "/a"),
            "learned rates: 572 MiB/s a core; kept in /a");
  EXPECT_EQ(learned_words(before, {0.5e9, 27.5e9, 0.2}, "/a"),
            "learned rates: 25.6 GiB/s on the GPU, 0.20 s to start CUDA; kept in /a");
}

TEST_F(KeptRates, AreNoneWithoutAFile) {
  EXPECT_EQ(file().read(problem_), Rates{});
  EXPECT_EQ(problem_, "");
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

TEST_F(KeptRates, AreOfOneProcessor) {
  file("one").write({0.5e9, {}, {}});
  EXPECT_EQ(file("another").read(problem_), Rates{});
  EXPECT_EQ(problem_, "");
  file("another").write({0.25e9, {}, {}});
  EXPECT_EQ(file("another").read(problem_).core_bytes_per_second, 0.25e9);
}

TEST_F(KeptRates, AreOfOneVersion) {
  const auto text = [](const std::string& version) {
    return R"({"version": )" + version +
           R"(, "processor": "a processor", "core_bytes_per_second": 5e8})";
  };
  EXPECT_EQ(read(text("1")).core_bytes_per_second, 5e8);
  for (const char* other :
       {"0", "2", "1.5", "\"1\"", "null", "4294967297", "18446744073709551617"}) {
    EXPECT_EQ(read(text(other)), Rates{}) << other;
  }
}

TEST_F(KeptRates, ThatNoMachineHasAreNone) {
  for (const char* rate : {"0", "-5e8", "1e300", "1e-9", "null", "\"5e8\"", "[5e8]", "true"}) {
    EXPECT_EQ(
        read(std::string(R"({"version": 1, "processor": "a processor", )") +
             R"("core_bytes_per_second": )" + rate + R"(, "cuda_start_seconds": )" + rate + "}"),
        Rates{})
        << rate;
  }
}

TEST_F(KeptRates, HaveAllLimitsOrNone) {
  const auto limits = [&](const std::string& some) {
    return read(R"({"version": 1, "processor": "a processor", "limits": )" + some + "}").limits;
  };
  const std::string disks =
      R"("disk_read_bytes_per_second": 3e9, "disk_write_bytes_per_second": 2e9)";
  EXPECT_EQ(limits("{" + disks + R"(, "memory_bytes_per_second": 2e11})"),
            (Limits{3e9, 2e9, 200e9}));
  EXPECT_FALSE(limits("{" + disks + "}"));
  EXPECT_FALSE(limits("{" + disks + R"(, "memory_bytes_per_second": 0})"));
  EXPECT_FALSE(limits("[3e9, 2e9, 2e11]"));
}

TEST_F(KeptRates, OfADamagedFileAreNoneAndTheFileIsNamed) {
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("\0\xff", 2), std::string(1 << 20, '['),
        std::string(R"({"version": 1, "processor")")}) {
    EXPECT_EQ(read(text), Rates{});
    EXPECT_NE(problem_.find(name()), std::string::npos) << problem_;
  }
  file().write({0.5e9, {}, {}});
  EXPECT_EQ(file().read(problem_).core_bytes_per_second, 0.5e9) << "it is replaced";
}

TEST_F(KeptRates, AreNotReadFromWhatIsNoFile) {
  fs::create_directories(folder_ / "cache/gsort");
  ASSERT_EQ(::mkfifo(name().c_str(), 0600), 0);
  EXPECT_EQ(file().read(problem_), Rates{});  // and no call waits for a writer, or a reader
  EXPECT_THROW(file().write({0.5e9, {}, {}}), Error);
  fs::remove(name());
  fs::create_directory(name());
  EXPECT_EQ(file().read(problem_), Rates{});
  EXPECT_THROW(file().write({0.5e9, {}, {}}), Error);
}

TEST_F(KeptRates, AreInFoldersOfTheUserAlone) {
  file().write({0.5e9, {}, {}});
  for (const char* folder : {"cache", "cache/gsort"}) {
    EXPECT_EQ(fs::status(folder_ / folder).permissions(), fs::perms::owner_all) << folder;
  }
}

TEST_F(KeptRates, CannotBeKeptUnderAFile) {
  io::test::write_file(folder_ / "cache", {});
  EXPECT_EQ(file().read(problem_), Rates{});
  const Error error = test::error_of([&] { file().write({0.5e9, {}, {}}); });
  EXPECT_NE(std::string(error.what()).find(folder_ / "cache"), std::string::npos) << error.what();
}

TEST(RatesFile, IsUnderTheFirstAbsoluteName) {
  EXPECT_EQ(RatesFile("/c", "/home/me", "").path(), "/c/gsort/rates.json");
  EXPECT_EQ(RatesFile(nullptr, "/home/me", "").path(), "/home/me/.cache/gsort/rates.json");
  EXPECT_EQ(RatesFile("", "/home/me", "").path(), "/home/me/.cache/gsort/rates.json");
  EXPECT_EQ(RatesFile("here", "/home/me", "").path(), "/home/me/.cache/gsort/rates.json");
  for (const char* home : {static_cast<const char*>(nullptr), "", "here"}) {
    const RatesFile none(nullptr, home, "");
    std::string problem;
    EXPECT_EQ(none.path(), "");
    EXPECT_EQ(none.read(problem), Rates{});
    none.write({0.5e9, {}, {}});
    EXPECT_EQ(problem, "");
  }
}

TEST(ProcessorName, IsNotEmpty) {
  EXPECT_FALSE(processor_name().empty());
  EXPECT_EQ(processor_name(), processor_name());
}

}  // namespace
}  // namespace gsort
