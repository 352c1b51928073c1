// Detects inputs that plainly are not raw keys (form/foreign_form.hpp). If the user gave the key
// type, only data of other codecs, headers of NumPy arrays and FITS files are errors: the default
// type is a guess, and such files are hardly ever meant to be sorted by it.
#pragma once

#include <optional>
#include <string>

#include "form/codec.hpp"
#include "form/foreign_form.hpp"
#include "io/input/input.hpp"
#include "io/input/source.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// Like gsort::foreign_form_of_bytes, but also finds data of codecs that gsort reads, after
// decompression.
[[nodiscard]] std::optional<ForeignForm> foreign_form_of_bytes(ConstByteSpan first_bytes);

// All throw Error(kInput), which says how to sort the input.

// Throws if the name is that of a codec that gsort does not read. `codec` is the codec of the first
// bytes: data that gsort can decompress may have any name.
void refuse_foreign_codec(const std::string& path, Codec codec);

// Throws if `form` has an assumed type and the name is that of another format. With `is_plain`, the
// content is known not to be compressed.
void refuse_foreign_name(const std::string& path, const ElementForm& form, bool is_plain);
// Returns the form that the bytes look like, if a given type overrules that.
std::optional<ForeignForm> refuse_foreign_bytes(const std::string& path, const ElementForm& form,
                                                ConstByteSpan first_bytes);

// Throws if a plain file of raw keys has a known layout (form/known_layout.hpp) and the type is
// assumed; for FITS files, also if the type is given. Reads the file from its beginning.
void refuse_known_layout(Input& input, const ElementForm& form);

// Takes the first bytes of raw keys, if no header is skipped; throws if a NumPy array begins there.
void refuse_npy_header(const std::string& path, ConstByteSpan first_bytes);

}  // namespace gsort::io
