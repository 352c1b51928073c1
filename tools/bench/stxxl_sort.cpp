// stxxl-sort: sorts a file of u32 or u64 with STXXL, a comparable sorter in Debian. The input is
// copied to the output, which is then sorted in place, as STXXL's vectors require. For
// tools/bench/rivals.
//
//   stxxl-sort u32|u64 MEMORY_BYTES INPUT OUTPUT     where STXXLCFG names its disks
//   stxxl-sort --version
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <string>

#include <stxxl/io>
#include <stxxl/sort>
#include <stxxl/vector>

namespace {

// The comparison for stxxl::sort, with a least and a greatest key.
template <class Key>
struct Ascending : std::less<Key> {
  [[nodiscard]] Key min_value() const { return std::numeric_limits<Key>::min(); }
  [[nodiscard]] Key max_value() const { return std::numeric_limits<Key>::max(); }
};

template <class Key>
void sort_file(const std::string& path, std::uint64_t memory) {
  stxxl::syscall_file file(path, stxxl::file::RDWR | stxxl::file::DIRECT);
  typename stxxl::VECTOR_GENERATOR<Key>::result keys(&file);
  stxxl::sort(keys.begin(), keys.end(), Ascending<Key>(), memory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::cout << "STXXL " STXXL_VERSION_STRING "\n";
    return 0;
  }
  if (argc != 5) {
    std::cerr << "usage: stxxl-sort u32|u64 MEMORY_BYTES INPUT OUTPUT\n";
    return 2;
  }
  const std::string kind = argv[1];
  std::filesystem::copy_file(argv[3], argv[4], std::filesystem::copy_options::overwrite_existing);
  const std::uint64_t memory = std::strtoull(argv[2], nullptr, 10);
  kind == "u64" ? sort_file<std::uint64_t>(argv[4], memory)
                : sort_file<std::uint32_t>(argv[4], memory);
  return 0;
}
