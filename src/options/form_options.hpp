// The options for the form of files: --format, --skip, --decompress, --compress.
#pragma once

#include <string_view>

#include "form/file_form.hpp"
#include "options/options.hpp"

namespace gsort {

// All throw Error(kUsage) with a hint that names valid values.
void set_format(Options& options, std::string_view value);  // "text", "bin:npy"
void set_skip(Options& options, std::string_view value);    // "8", "4K"
void set_skip_end(Options& options, std::string_view value);
void set_decompress(Options& options, std::string_view value);  // "auto", "none", "xz"
void set_compress(Options& options, std::string_view value);    // "none", "zstd", "gzip:9"

// The form of the output: by options, else by the suffixes of its name; without any, the format of
// the first input, not compressed.
[[nodiscard]] OutputForm output_form(const Options& options);

// Throws: Error(kUsage) if the suffixes of the output's name mean that it is compressed twice, or
// has a form that gsort does not write. An input may be replaced under any name.
void refuse_output_name(const Options& options);

// The part of the form of inputs that options determined, from the text of resumable_job().
[[nodiscard]] InputForm form_of_job(std::string_view description);

}  // namespace gsort
