// The job: the options and the facts of the inputs' headers, combined once. Plan, pipeline and
// reports read the sort's parameters from Job only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "element/counted_keys.hpp"
#include "element/element.hpp"
#include "element/numbered_elements.hpp"
#include "form/file_form.hpp"
#include "form/stored_array.hpp"
#include "options/request.hpp"

namespace gsort {

struct Job : ResultOptions, StoredShape {
  ElementFormat element;  // what is sorted
  TypeSource type_source = TypeSource::kCaller;
  bool looks_like_sosd = false;  // the first input does, but is read as raw keys

  // With --argsort and --shuffle, the elements of the input. --argsort sorts them together with
  // their positions, and writes only the positions. --shuffle sorts them by numbers derived from
  // their positions and the seed, and writes only the elements.
  std::optional<ElementFormat> numbered;
  std::size_t index_bytes = 0;    // of a position in memory and in runs
  bool index_may_shrink = false;  // in the output, since the size of the input is not known yet
  std::size_t padding_bytes = 0;  // before it (Numbering)

  std::uint64_t merged_inputs = 0;  // the number of inputs, if they are sorted already; else 0
  // Elements of each array that is sorted on its own; 0: the input is one array. Never more than a
  // file can hold: an array longer than the input is the input, and sums of such numbers, and their
  // products with the bytes of an element, stay within 64 bits.
  std::uint64_t array_elements = 0;

  OutputForm output_form;
  unsigned output_parts = 1;              // files that the output is split into
  std::uint64_t header_bytes = 0;         // header and trailer, copied from the first input
  bool resumable = false;                 // runs outlive the process
  bool forms_share = false;               // only runs are made
  std::uint64_t least_program_bytes = 0;  // the part of -S that is left to the program and its
                                          // libraries
  // With --take: the elements of the part of the output. Only this part is made, from runs that
  // other processes have formed.
  std::optional<std::uint64_t> part_elements;
  std::optional<ElementFormat> shown;  // of the output, if it differs from that of runs

  Resources resources;
  Handling handling;

  [[nodiscard]] const ElementFormat& input_element() const {
    return numbered ? *numbered : shown ? *shown : element;
  }

  // The bytes of an element of the input in raw form.
  [[nodiscard]] std::size_t input_bytes() const {
    return input_element().bytes() + (adds_counts() ? kCountBytes : 0);
  }

  // Requires: `numbered` is set.
  [[nodiscard]] Numbering numbering() const {
    // The number of a shuffle is never written: its order of bytes is fixed, whatever the output's.
    const bool big_endian = !shuffle && numbered->key.big_endian;
    return {numbered->bytes(), index_bytes, big_endian, padding_bytes, shuffle};
  }

  // The elements in the order that is proven: equal ones in the order of their positions, unless
  // only the first of them is written.
  [[nodiscard]] ElementFormat proven_element() const {
    constexpr bool kIsKey = true;
    return numbered && !is_distinct() ? gsort::numbered(*numbered, numbering(), kIsKey).as_keys()
                                      : shown.value_or(element);
  }

  // Whether the place of a piece in the output depends on earlier pieces. If so, pieces are put in
  // the order of their positions, whatever the output is, and merges stage their parts.
  [[nodiscard]] bool needs_order() const { return is_distinct() || !output_form.is_plain(); }

  // The bytes of an element of the output in raw form; for a position, the most it may have.
  [[nodiscard]] std::size_t result_bytes() const {
    if (argsort) return index_bytes;
    return input_element().bytes() + (count ? kCountBytes : 0);
  }

  // The keys of the output; for positions, the widest.
  [[nodiscard]] KeyFormat result_key() const {
    if (!argsort) return input_element().key;
    return {index_bytes == 4 ? KeyType::kU32 : KeyType::kU64, numbered->key.big_endian, false};
  }
};

// `stored` comes from the headers of the inputs; without headers, it has neither key nor records.
// `input_bytes` is the size of all elements, if known. Throws: Error(kUsage) if these disagree.
[[nodiscard]] Job make_job(const Options& options, const StoredArray& stored = {},
                           std::optional<std::uint64_t> input_bytes = {});

// Returns the options that decide the contents of runs, as text. It is equal for sorts with the
// same runs; their output, its form, -u, --top and all resources may differ.
[[nodiscard]] std::string resumable_job(const Job& job, const InputForm& form);

// The columns of the table that such a text describes; 0 if it is of other elements.
[[nodiscard]] std::uint64_t columns_in(std::string_view description);

}  // namespace gsort
