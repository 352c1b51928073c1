#include "form/counted_file.hpp"

#include "base/checked.hpp"
#include "unit/io/memory_stream.hpp"

namespace gsort::io {
namespace {

TEST(SosdHeader, IsTheCountInLittleEndian) {
  const std::vector<std::byte> header = make_sosd_header(0x0102030405060708);
  ASSERT_EQ(header.size(), kSosdHeaderBytes);
  for (std::size_t i = 0; i < header.size(); ++i) EXPECT_EQ(header[i], std::byte(8 - i));
  test::MemoryStream bytes(header);
  EXPECT_EQ(read_sosd_header(bytes, "in"), 0x0102030405060708U);
}

TEST(SosdHeader, ThatIsCutShortIsAnErrorWithTheFilesName) {
  const std::vector<std::byte> header = make_sosd_header(1);
  for (std::size_t size = 0; size < header.size(); ++size) {
    SCOPED_TRACE(size);
    test::MemoryStream bytes({header.begin(), header.begin() + static_cast<long>(size)});
    const Error error = test::error_of([&] { (void)read_sosd_header(bytes, "in"); });
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.path(), "in");
  }
}

TEST(PromisedBytes, AreRefusedWhereNoFileIsAsLarge) {
  EXPECT_EQ(promised_bytes("in", 0, 8), 0U);
  EXPECT_EQ(promised_bytes("in", kMostFileBytes / 8, 8), kMostFileBytes / 8 * 8);
  EXPECT_THROW((void)promised_bytes("in", kMostFileBytes / 8 + 1, 8), Error);
  EXPECT_THROW((void)promised_bytes("in", UINT64_MAX, 1), Error);
}

}  // namespace
}  // namespace gsort::io
