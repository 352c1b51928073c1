// gsort-bench ceilings, the host's part: the disk around the page cache (O_DIRECT) read, written,
// and both at once, the page cache read, and memory copied. The files have no names and vanish with
// the program. With --keep, gsort compares its sorts with the rates (src/report/limit.hpp).
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <fcntl.h>

#include "app/rates_file.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "bench/ring_transfers.hpp"
#include "bench/subcommands.hpp"
#include "io/system/memory.hpp"
#include "io/system/temporary_file.hpp"

namespace gsort::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBlockBytes = 4 * kMiB;
constexpr std::uint64_t kMemoryBytes = 256 * kMiB;
constexpr unsigned kDiskThreads = 8;  // transfers in flight in each direction

// The transfer of one thread, with a block buffer, at an offset.
using Transfer = std::function<void(io::ByteSpan block, std::uint64_t offset)>;

// `threads` threads share out the blocks of a file of `file_bytes`.
class SharedTransfers {
 public:
  SharedTransfers(std::uint64_t file_bytes, Transfer transfer)
      : file_bytes_(file_bytes), transfer_(std::move(transfer)) {}

  void start(unsigned threads, const io::Arena& buffers, unsigned first_buffer) {
    for (unsigned i = 0; i < threads; ++i) {
      const auto block = buffers.bytes().subspan((first_buffer + i) * kBlockBytes, kBlockBytes);
      threads_.emplace_back([this, block] { work(block); });
    }
  }
  void join() {
    threads_.clear();
    failure_.rethrow();
  }

 private:
  void work(io::ByteSpan block) {
    try {
      for (std::uint64_t at = next_.fetch_add(kBlockBytes); at < file_bytes_ && !failure_.failed();
           at = next_.fetch_add(kBlockBytes)) {
        transfer_(block, at);
      }
    } catch (...) {
      failure_.capture();
    }
  }

  std::uint64_t file_bytes_;
  Transfer transfer_;
  std::atomic<std::uint64_t> next_{0};
  Failure failure_;
  std::vector<std::jthread> threads_;
};

// A nameless file of the benchmark, through the page cache and around it.
struct BenchFile {
  explicit BenchFile(const std::string& folder)
      : cached(io::create_unnamed(io::open_folder(folder, ErrorKind::kTemporary), folder)),
        direct(cached.reopened(O_RDWR | O_DIRECT)) {}

  io::File cached;
  io::File direct;  // not open where the file system has no O_DIRECT
};

Transfer direct_write(const BenchFile& file) {
  return [&file](io::ByteSpan block, std::uint64_t offset) {
    std::size_t moved = 0;
    if (!file.direct.write_direct_at(block, offset, moved)) {
      throw Error(ErrorKind::kTemporary, "writing with O_DIRECT", "is not supported here");
    }
  };
}

Transfer direct_read(const BenchFile& file) {
  return [&file](io::ByteSpan block, std::uint64_t offset) {
    std::size_t moved = 0;
    if (!file.direct.read_direct_at(block, offset, moved) || moved != block.size()) {
      throw Error(ErrorKind::kTemporary, "reading with O_DIRECT", "is not supported here");
    }
  };
}

Transfer cached_write(const BenchFile& file) {
  return [&file](io::ByteSpan block, std::uint64_t offset) {
    file.cached.write_full_at(block, offset);
  };
}

Transfer cached_read(const BenchFile& file) {
  return [&file](io::ByteSpan block, std::uint64_t offset) {
    if (file.cached.read_full_at(block, offset) != block.size()) {
      throw Error(ErrorKind::kTemporary, "reading through the page cache", "the file is short");
    }
  };
}

class HostCeilings {
 public:
  explicit HostCeilings(const Request& request)
      : repeat_(std::min(request.repeat, 3)),
        file_bytes_(round_up(std::max(request.file_bytes, kBlockBytes), kBlockBytes)),
        buffers_(std::max(2 * kDiskThreads, 16U) * kBlockBytes, "the disk benchmark"),
        one_(request.folder),
        other_(request.folder) {
    std::memset(buffers_.data(), 0x5a, buffers_.size());
  }

  [[nodiscard]] bool has_direct() const { return one_.direct.is_open() && other_.direct.is_open(); }

  // Times `work`, which moves this many bytes.
  void add_timed(const std::string& name, std::uint64_t bytes, const std::function<void()>& work) {
    std::vector<double> all_ms;
    for (int run = 0; run < repeat_; ++run) {
      const auto begin = Clock::now();
      work();
      const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
      all_ms.push_back(time.count());
    }
    Result result;
    result.contender = name;
    result.times = Times::of(std::move(all_ms));
    result.bytes = bytes;
    results_.push_back(result);
  }

  // Times transfers that run at once, one list of blocks each, then `finish`.
  void add(
      const std::string& name, unsigned threads, const std::vector<Transfer>& at_once,
      const std::function<void()>& finish = [] {}) {
    add_timed(name, at_once.size() * file_bytes_, [&] {
      std::vector<std::unique_ptr<SharedTransfers>> sides;
      for (const Transfer& transfer : at_once) {
        sides.push_back(std::make_unique<SharedTransfers>(file_bytes_, transfer));
        sides.back()->start(threads, buffers_, static_cast<unsigned>(sides.size() - 1) * threads);
      }
      for (const auto& side : sides) side->join();
      finish();
    });
  }

  void add_disk() {
    const auto sync_one = [this] { one_.direct.sync_data(); };
    add("disk write, O_DIRECT, synced", kDiskThreads, {direct_write(one_)}, sync_one);
    add("disk read, O_DIRECT", kDiskThreads, {direct_read(one_)});
    add("disk read + write at once, O_DIRECT", kDiskThreads,
        {direct_read(one_), direct_write(other_)}, [this] { other_.direct.sync_data(); });
  }

  // As many transfers in flight as there are threads above.
  void add_ring() {
    add_timed("disk write, io_uring, synced", file_bytes_, [this] {
      move_through_ring(one_.direct, file_bytes_, kBlockBytes, half_of_the_buffers(),
                        RingDirection::kWrite);
      one_.direct.sync_data();
    });
    add_timed("disk read, io_uring", file_bytes_, [this] {
      move_through_ring(one_.direct, file_bytes_, kBlockBytes, half_of_the_buffers(),
                        RingDirection::kRead);
    });
  }

  void add_page_cache() {
    add("page cache write, 1 thread", 1, {cached_write(other_)});
    for (const unsigned threads : {1U, 4U, 16U}) {
      add("page cache read, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
          threads, {cached_read(other_)});
    }
  }

  // Larger than caches; counted as read and written.
  void add_memory(unsigned threads) {
    const io::Arena memory(2 * kMemoryBytes, "the memory benchmark");
    std::memset(memory.data(), 0x5a, memory.size());
    add_timed(kMemoryCopy, 2 * kMemoryBytes, [&] {
      run_workers(threads, [&](unsigned worker) {
        const std::uint64_t begin = kMemoryBytes * worker / threads;
        const std::uint64_t end = kMemoryBytes * (worker + 1) / threads;
        std::memcpy(memory.data() + kMemoryBytes + begin, memory.data() + begin, end - begin);
      });
    });
  }

  // The best measured rates; none if the disk's are not known.
  [[nodiscard]] std::optional<Limits> limits() const {
    const Limits limits{rate_of("disk read, "), rate_of("disk write, "), rate_of(kMemoryCopy)};
    if (limits.disk_read_bytes_per_second <= 0) return std::nullopt;
    return limits;
  }

  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  static constexpr const char* kMemoryCopy = "memory copy, all threads, read + written";

  [[nodiscard]] double rate_of(const std::string& beginning) const {
    double best = 0;
    for (const Result& result : results_) {
      if (!result.contender.starts_with(beginning)) continue;
      best = std::max(best, static_cast<double>(result.bytes) / result.times.least_ms * 1e3);
    }
    return best;
  }
  [[nodiscard]] io::ByteSpan half_of_the_buffers() const {
    return buffers_.bytes().first(kDiskThreads * kBlockBytes);
  }

  int repeat_;
  std::uint64_t file_bytes_;
  io::Arena buffers_;
  BenchFile one_;
  BenchFile other_;
  std::vector<Result> results_;
};

void keep(const std::optional<Limits>& limits, Report& report) {
  if (!limits) {
    report.say("nothing is kept: the disk's rates are not known");
    return;
  }
  const RatesFile file(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"), processor_name());
  std::string problem;
  Rates rates = file.read(problem);
  rates.limits = limits;
  file.write(rates);
  report.say("kept in " + file.path());
}

}  // namespace

void bench_host_ceilings(const Request& request, Report& report) {
  HostCeilings ceilings(request);
  if (ceilings.has_direct()) {
    ceilings.add_disk();
    const std::string no_ring = why_no_ring();
    if (no_ring.empty()) {
      ceilings.add_ring();
    } else {
      report.say("no rows of io_uring: " + no_ring);
    }
  } else {
    report.say("no O_DIRECT in " + request.folder + ": no disk ceilings");
  }
  ceilings.add_page_cache();
  ceilings.add_memory(request.threads);
  report.set_copy_rate(0);
  Group group;
  group.title = "ceilings of " + request.folder + ", files of " + format_bytes(request.file_bytes) +
                ", blocks of " + format_bytes(kBlockBytes) + " (at once: the sum)";
  report.add(group, ceilings.results());
  if (request.keeps_limits) keep(ceilings.limits(), report);
}

}  // namespace gsort::bench
