// Opens one input as the kind of source that it is: raw elements in a file, raw elements in order,
// text, or an array.
#pragma once

#include <memory>
#include <string>

#include "form/file_form.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

// `path` "-" is standard input. The header that `form` skips is kept if `keep_header`. Reads
// nothing from a pipe except the header of an array. Throws: Error(kInput); Error(kUsage) if an
// array's header would be skipped.
[[nodiscard]] std::unique_ptr<Source> open_source(const std::string& path, const InputForm& form,
                                                  const WayToRead& way, bool keep_header);

}  // namespace gsort::io
