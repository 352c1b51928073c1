#include "base/error.hpp"

#include <system_error>
#include <utility>

#include "base/quoted.hpp"

namespace gsort {

Error::Error(ErrorKind kind, std::string operation, std::string reason)
    : kind_(kind), operation_(std::move(operation)), reason_(std::move(reason)) {
  compose();
}

Error&& Error::path(std::string_view path) && {
  path_ = path;
  compose();
  return std::move(*this);
}

Error&& Error::at(std::uint64_t offset_bytes) && {
  offset_bytes_ = offset_bytes;
  compose();
  return std::move(*this);
}

Error&& Error::hint(std::string_view hint) && {
  hint_ = hint;
  compose();
  return std::move(*this);
}

Error Error::from_errno(ErrorKind kind, std::string operation, int error_number) {
  Error error(kind, std::move(operation), std::generic_category().message(error_number));
  error.error_number_ = error_number;
  return error;
}

void Error::compose() {
  message_ = printable(operation_);
  if (!path_.empty()) message_.append(" ").append(printable(path_));
  if (offset_bytes_) message_ += " at byte " + std::to_string(*offset_bytes_);
  message_.append(": ").append(printable(reason_));
  if (!hint_.empty()) message_.append("\n  ").append(printable(hint_));
}

}  // namespace gsort
