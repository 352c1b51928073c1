// MemorySource: elements that are not in a file: an array in memory, or elements made from one
// while it is read. Claims cost nothing; many threads read at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "form/stored_array.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

struct MemoryInput {
  std::string name;  // its name in messages and among the paths of a Reader
  StoredArray array;
  std::uint64_t bytes = 0;  // of all elements; only whole elements
  // Copies whole elements from byte `at` on. Thread-safe. The elements do not change until the
  // Reader is destroyed.
  std::function<void(ByteSpan to, std::uint64_t at)> read;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(MemoryInput memory);

  void begin(const ElementForm& form) override;
  [[nodiscard]] Filling filling() const override { return Filling::kByOffset; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return memory_.bytes; }
  [[nodiscard]] Claim claim(ByteSpan room, std::size_t wanted_bytes) override;
  void fill(ByteSpan room, const Claim& claim) override;
  [[nodiscard]] bool at_end() const override { return taken_ == memory_.bytes; }
  void skip(std::uint64_t bytes) override;
  [[nodiscard]] bool rewind() override {
    taken_ = 0;
    return true;
  }
  void sample_at(ByteSpan to, std::uint64_t at) override { memory_.read(to, at); }
  [[nodiscard]] ConstByteSpan header() const override { return {}; }

 private:
  MemoryInput memory_;
  std::uint64_t taken_ = 0;
};

}  // namespace gsort::io
