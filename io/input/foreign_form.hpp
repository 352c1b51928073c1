// Inputs that plainly hold something else than raw keys (form/foreign_form.hpp). Where somebody
// gave the type of the keys, only data of other codecs and the headers of NumPy arrays are refused:
// the default type is a guess, and such files are hardly ever meant to be sorted by it.
#pragma once

#include <optional>
#include <string>

#include "form/codec.hpp"
#include "form/foreign_form.hpp"
#include "io/input/source.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// As gsort::foreign_form_of_bytes; also data of codecs that gsort reads, for what has been
// decompressed.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_bytes(ConstByteSpan first_bytes);

// All throw Error(kInput) with the way out.

// A name that is that of a codec which gsort does not read, if `codec` is left to gsort.
void refuse_foreign_codec(const std::string& path, std::optional<Codec> codec);

// Where `form` has a type that nobody gave.
void refuse_foreign_name(const std::string& path, const ElementForm& form, bool is_plain);
void refuse_foreign_bytes(const std::string& path, const ElementForm& form,
                          ConstByteSpan first_bytes);

// The first bytes of raw keys, if no header is skipped: they must not be that of a NumPy array.
void refuse_npy_header(const std::string& path, ConstByteSpan first_bytes);

}  // namespace gsort::io
