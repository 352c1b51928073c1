// Memory of the caller, and the null device: every byte has its place, and nothing is synced.
#include <utility>

#include "base/checked.hpp"
#include "base/tiling.hpp"
#include "base/units.hpp"
#include "io/output/output_impl.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {
namespace {

class MemoryOutput : public Output::Impl {
 public:
  explicit MemoryOutput(MemoryResult result) : result_(std::move(result)) {}

  [[nodiscard]] bool is_stream() const override { return false; }
  [[nodiscard]] const std::string& path() const override { return result_.name; }
  [[nodiscard]] const std::string& folder() const override { return no_folder_; }
  void prepare(std::uint64_t bytes, const WriteWindows&) override { require_room(bytes); }
  void write_at(std::uint64_t offset, ConstByteSpan bytes) override;
  // Memory that was written to may have been an input's.
  [[nodiscard]] std::unique_ptr<Output::Impl> renewed() override {
    if (!written_.covers(0)) return nullptr;
    return std::make_unique<MemoryOutput>(result_);
  }
  void cancel() noexcept override {}
  void finish(std::uint64_t size_bytes) override;
  [[nodiscard]] std::vector<std::string> notes() const override { return {}; }

 private:
  void require_room(std::uint64_t bytes) const;

  MemoryResult result_;
  const std::string no_folder_;
  std::mutex mutex_;
  Tiling written_;
};

void MemoryOutput::require_room(std::uint64_t bytes) const {
  if (bytes <= result_.bytes) return;
  throw Error(ErrorKind::kUsage, "writing to " + result_.name,
              "the array holds " + format_count(result_.bytes) + " bytes, the result needs more")
      .hint("give an array of as many elements as the sources have");
}

void MemoryOutput::write_at(std::uint64_t offset, ConstByteSpan bytes) {
  require_room(capped_sum(offset, bytes.size()));
  {
    const std::lock_guard lock(mutex_);
    if (!written_.add(offset, offset + bytes.size())) {
      throw misplaced(kOverlap, result_.name, kOfNoUse).at(offset);
    }
  }
  result_.write(offset, bytes);
}

void MemoryOutput::finish(std::uint64_t size_bytes) {
  if (!written_.covers(size_bytes)) {
    throw misplaced(kMissing, result_.name, kOfNoUse).at(written_.first_gap());
  }
}

// The null device: threads may write in any order, because it stores nothing. The places of writes
// are still checked.
class NullOutput final : public MemoryOutput {
 public:
  explicit NullOutput(File file)
      : MemoryOutput({file.path(), UINT64_MAX,
                      [this](std::uint64_t offset, ConstByteSpan bytes) {
                        file_.write_full_at(bytes, offset);
                      }}),
        file_(std::move(file)) {}

  [[nodiscard]] bool is_stream() const override { return true; }
  [[nodiscard]] bool is_null() const override { return true; }
  [[nodiscard]] std::unique_ptr<Output::Impl> renewed() override {
    return make_null_output(std::move(file_));
  }
  void finish(std::uint64_t size_bytes) override {
    MemoryOutput::finish(size_bytes);
    file_.close();
  }

 private:
  File file_;
};

}  // namespace

std::unique_ptr<Output::Impl> make_null_output(File file) {
  return std::make_unique<NullOutput>(std::move(file));
}

Output::Output(MemoryResult result) : impl_(std::make_unique<MemoryOutput>(std::move(result))) {}

}  // namespace gsort::io
