// The only error type. Every failure that ends a sort is thrown as an Error, and only main prints
// it:
//
//   gsort: writing run 17 in /scratch at 12.4 GiB: No space left on device
//     give another folder with -T, or free 3.1 GiB there
//
// Read next: failure.hpp, which passes the first Error from the thread that failed to all others.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace gsort {

// The kind of an error, on which a caller may act.
enum class ErrorKind : std::uint8_t {
  kUsage,      // the command line or an argument of a library call is wrong
  kInput,      // an input cannot be read, or does not hold whole elements
  kOutput,     // the output cannot be written
  kTemporary,  // a temporary folder or a run in it failed
  kResource,   // too little memory, disk or device memory for any plan
  kDevice,     // the GPU is missing, refused work, or failed
  kCorrupt,    // the proof failed: a checksum, the order, or the fingerprint
  kStopped,    // the caller told the work to end
};

// One failure. The first line of what() is "OPERATION [PATH] [at OFFSET]: REASON"; the hint, if
// there is one, says what to do and has its own line. Control characters, which names of files may
// hold, are shown as \xNN, and long texts are cut. Immutable once thrown; cheap to copy.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string operation, std::string reason);

  // Builders, used on the temporary before it is thrown:
  //   throw Error(ErrorKind::kInput, "reading", "is a directory").path(name).hint("...");
  Error&& path(std::string_view path) &&;
  Error&& at(std::uint64_t offset_bytes) &&;
  Error&& hint(std::string_view hint) &&;

  // An Error whose reason is the text of `error_number` (an errno value).
  static Error from_errno(ErrorKind kind, std::string operation, int error_number);

  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& operation() const noexcept { return operation_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
  [[nodiscard]] std::optional<std::uint64_t> offset_bytes() const noexcept { return offset_bytes_; }
  [[nodiscard]] int error_number() const noexcept { return error_number_; }  // 0: not from errno

 private:
  void compose();

  ErrorKind kind_;
  int error_number_ = 0;
  std::string operation_;
  std::string reason_;
  std::string path_;
  std::string hint_;
  std::optional<std::uint64_t> offset_bytes_;
  std::string message_;
};

}  // namespace gsort
