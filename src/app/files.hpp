// The files of a job in the options' terms: what the reader and the output are opened with.
#pragma once

#include <optional>

#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "options/options.hpp"

namespace gsort {

[[nodiscard]] io::ReaderOptions reader_options(const Options& options);

// What the header of an input says about its elements, and its rows, becomes part of the options.
// Throws: Error(kUsage) where they do not go together.
void adopt_stored_key(Options& options, const io::Reader& reader);

// For inputs that are checked, which needs no plan: their decoders stay within -S.
// Throws: Error(kUsage) where they cannot.
void limit_decoders_of_check(const Options& options, io::Reader& reader);

// A stream is not opened to be explained: it may be a terminal, or have nobody at its other end.
// Throws: Error(kOutput).
[[nodiscard]] std::optional<io::Output> open_output(const Options& options);

}  // namespace gsort
