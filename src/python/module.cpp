// The module gsort._native: the calls of the package for Python. Arrays are passed as their bytes,
// names and words as bytes in the file system's encoding; gsort/__init__.py makes them.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/current_error.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "element/fingerprint.hpp"
#include "form/npy.hpp"
#include "io/input/input.hpp"
#include "io/input/numpy_order.hpp"
#include "io/system/interruption.hpp"
#include "options/option_values.hpp"
#include "python/array_sort.hpp"
#include "python/call.hpp"
#include "python/device_arrays.hpp"
#include "python/lock.hpp"
#include "python/watched.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace gsort::python {
namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Room = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The memory of a Python array, which must not move while this is in use.
class Held {
 public:
  Held(const nb::handle& array, int flags) {
    if (PyObject_GetBuffer(array.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  ~Held() { PyBuffer_Release(&view_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  [[nodiscard]] ByteSpan bytes() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

ByteSpan span_of(const Room& room) {
  return std::as_writable_bytes(std::span(room.data(), room.size()));
}

std::string text_of(const nb::bytes& bytes) {
  return {bytes.c_str(), bytes.size()};
}

nb::bytes bytes_of(const std::string& text) {
  return nb::bytes(text.data(), text.size());
}

// An array of the caller: its name in messages, the dictionary of its .npy header, its bytes. If
// these are mapped from a file, the file and their place in it. Whether its keys are sorted in
// NumPy's order.
struct Array {
  nb::bytes name;
  std::string header;
  Bytes bytes;
  std::optional<nb::bytes> path;
  std::uint64_t offset = 0;
  bool in_numpy_order = false;
};

using ArrayReader = decltype(io::MemoryInput::read);

// A reference that threads without the interpreter's lock may drop. If they no longer get
// the lock, they leave the array: the thread that ends the interpreter may wait for them.
std::shared_ptr<const Bytes> held(const Bytes& bytes) {
  return {new Bytes(bytes), [](const Bytes* last) {
            if (!may_lock()) return;
            const Locked lock;
            delete last;
          }};
}

// The reader owns the array: an object that Python made from the caller's may have no other owner.
// Reading a file costs less than a fault for each of its pages, and leaves memory for other uses.
ArrayReader reader_of(const Array& array, const std::shared_ptr<io::Input>& file) {
  if (!file) {
    return [bytes = held(array.bytes)](ByteSpan to, std::uint64_t at) {
      std::memcpy(to.data(), bytes->data() + at, to.size());
    };
  }
  return [file, offset = array.offset](ByteSpan to, std::uint64_t at) {
    file->read_at(to, to.size(), offset + at);
  };
}

std::shared_ptr<io::Input> file_of(const Array& array) {
  return array.path ? std::make_shared<io::Input>(text_of(*array.path)) : nullptr;
}

io::MemoryInput input_of(const Array& array, const std::shared_ptr<io::Input>& file) {
  constexpr int kVersion = 3;  // UTF-8
  const std::string name = text_of(array.name);
  try {
    io::MemoryInput input{name, io::parse_npy_dictionary(array.header, name, kVersion).array,
                          array.bytes.size(), reader_of(array, file)};
    return array.in_numpy_order ? io::in_numpy_order(std::move(input)) : input;
  } catch (const Error& error) {  // the error is about the header of a file
    throw Error(error.kind(), "reading", error.reason()).path(name).hint(error.hint());
  }
}

io::MemoryResult result_in(const Room& room) {
  const ByteSpan bytes = span_of(room);
  return {"the result", bytes.size(), [bytes](std::uint64_t offset, ConstByteSpan from) {
            std::memcpy(bytes.data() + offset, from.data(), from.size());
          }};
}

std::vector<std::string> texts_of(const std::vector<nb::bytes>& words) {
  std::vector<std::string> texts(words.size());
  std::ranges::transform(words, texts.begin(), text_of);
  return texts;
}

void look_for_signals() {
  const Locked held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Opening a FIFO, and reading the header of an array from it, waits for its writer.
void make_call(Call* place, const std::vector<nb::bytes>& words, const std::vector<Array>& arrays,
               const std::vector<nb::bytes>& order) {
  std::vector<io::MemoryInput> inputs;
  std::vector<std::shared_ptr<const io::Input>> mapped;
  for (const Array& array : arrays) {
    const auto file = file_of(array);
    inputs.push_back(input_of(array, file));
    if (file) mapped.push_back(file);
  }
  const std::vector<std::string> texts = texts_of(words);
  const std::vector<std::string> fields = texts_of(order);
  const std::function<void()> look = look_for_signals;
  const Unlocked released;
  const io::Interruption interruption(look);
  try {
    new (place) Call(texts, std::move(inputs), fields, std::move(mapped));
  } catch (nb::python_error&) {
    throw;
  } catch (...) {
    throw current_error();
  }
}

Report sort(Call& call, const std::optional<Room>& room, const nb::object& watch) {
  Report report;
  run_watched(watch, [&](Meter& meter, const LastLook& last_look) {
    report = call.sort(room ? std::optional(result_in(*room)) : std::nullopt, meter, last_look);
  });
  return report;
}

Report sort_into(Call& call, int descriptor, const nb::bytes& place, const nb::object& watch) {
  Report report;
  const std::string folder = text_of(place);
  run_watched(watch, [&](Meter& meter, const LastLook& /*unused*/) {
    report = call.sort_into(descriptor, folder, meter);
  });
  return report;
}

FloatOrder float_order(bool total) {
  return total ? FloatOrder::kTotal : FloatOrder::kNumeric;
}

KeyFormat format_of(const char* type, bool descending, bool total) {
  KeyFormat format;
  format.type = key_type_named(type).value();
  format.descending = descending;
  format.float_order = float_order(total);
  return format;
}

// Calls f with the bytes of two arrays, without the interpreter's lock if that is worth it.
template <class F>
void with_arrays(const nb::handle& source, const nb::handle& result, const F& f) {
  constexpr std::size_t kWorthReleasing = 16 * kKiB;
  const Held from(source, PyBUF_C_CONTIGUOUS);
  const Held to(result, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  if (from.bytes().size() < kWorthReleasing) return f(from.bytes(), to.bytes());
  const Unlocked released;
  f(from.bytes(), to.bytes());
}

// Sorts rows of numbers in the machine's byte order, from one array to another or in place.
void sort_numbers(const nb::handle& source, const nb::handle& result, std::size_t row_keys,
                  const char* type, bool descending, bool total, unsigned threads) {
  with_arrays(source, result, [&](ConstByteSpan from, ByteSpan to) {
    sort_array(from, to, row_keys, format_of(type, descending, total), threads);
  });
}

// Writes the positions that sort rows of numbers.
void argsort_numbers(const nb::handle& source, const nb::handle& result, std::size_t row_keys,
                     const char* type, bool descending, bool total, std::size_t index_bytes,
                     unsigned threads) {
  with_arrays(source, result, [&](ConstByteSpan from, ByteSpan to) {
    argsort_array(from, to, row_keys, format_of(type, descending, total), index_bytes, threads);
  });
}

CheckOutcome check(Call& call, const nb::object& watch) {
  CheckOutcome outcome;
  run_watched(watch,
              [&](Meter& meter, const LastLook& /*unused*/) { outcome = call.check(meter); });
  return outcome;
}

DeviceKeys device_keys(std::uintptr_t address, std::uint64_t rows, std::uint64_t row_keys,
                       const std::string& type, bool big_endian, bool descending, bool total,
                       std::uintptr_t offsets) {
  return {address,
          rows,
          row_keys,
          {parse_key_type(type, "dtype").type, big_endian, descending, {}, float_order(total)},
          offsets};
}

void sort_device_array(std::uintptr_t address, std::uint64_t rows, std::uint64_t row_keys,
                       const std::string& type, bool big_endian, bool descending, bool total,
                       std::uintptr_t offsets, std::uintptr_t output, std::uintptr_t stream) {
  const Unlocked released;
  sort_on_device(device_keys(address, rows, row_keys, type, big_endian, descending, total, offsets),
                 output, stream);
}

void argsort_device_array(std::uintptr_t address, std::uint64_t rows, std::uint64_t row_keys,
                          const std::string& type, bool big_endian, bool descending, bool total,
                          std::uintptr_t offsets, std::uintptr_t indices, std::size_t index_bytes,
                          std::uintptr_t stream) {
  const Unlocked released;
  argsort_on_device(
      device_keys(address, rows, row_keys, type, big_endian, descending, total, offsets),
      {indices, index_bytes}, stream);
}

void sort_device_pairs(std::uintptr_t address, std::uint64_t rows, std::uint64_t row_keys,
                       const std::string& type, bool big_endian, bool descending, bool total,
                       std::uintptr_t offsets, std::uintptr_t keys_output, std::uintptr_t values,
                       std::size_t value_bytes, std::uintptr_t values_output,
                       std::uintptr_t stream) {
  const Unlocked released;
  sort_pairs_on_device(
      device_keys(address, rows, row_keys, type, big_endian, descending, total, offsets),
      keys_output, {values, value_bytes}, values_output, stream);
}

// The memory as an array that keeps `owner`; "__dlpack__" of it gives the capsule. `kind` is
// NumPy's letter; V is bfloat16.
nb::ndarray<> tensor_of(const nb::handle_t<DeviceMemory>& owner,
                        const std::vector<std::size_t>& shape, const std::string& kind,
                        std::uint8_t bits) {
  const auto& memory = nb::cast<const DeviceMemory&>(owner);
  const auto code = kind == "f"   ? nb::dlpack::dtype_code::Float
                    : kind == "u" ? nb::dlpack::dtype_code::UInt
                    : kind == "b" ? nb::dlpack::dtype_code::Bool
                    : kind == "V" ? nb::dlpack::dtype_code::Bfloat
                                  : nb::dlpack::dtype_code::Int;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python's form of it
  return {reinterpret_cast<void*>(memory.address()),
          shape.size(),
          shape.data(),
          owner,
          nullptr,
          {static_cast<std::uint8_t>(code), bits, 1},
          nb::device::cuda::value,
          memory.device()};
}

const char* name_of_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kInput:
      return "input";
    case ErrorKind::kOutput:
      return "output";
    case ErrorKind::kTemporary:
      return "temporary";
    case ErrorKind::kResource:
      return "resource";
    case ErrorKind::kDevice:
      return "device";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kStopped:
      break;
  }
  return "stopped";
}

// gsort._errors makes the exception of an Error.
void raise(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object exception =
        nb::module_::import_("gsort._errors")
            .attr("error_of")(name_of_kind(error.kind()), bytes_of(error.what()),
                              bytes_of(error.reason()), bytes_of(error.path()),
                              bytes_of(error.hint()), error.offset_bytes(), error.error_number());
    PyErr_SetObject(exception.type().ptr(), exception.ptr());
  }
}

}  // namespace
}  // namespace gsort::python

NB_MODULE(_native, module) {
  using namespace gsort::python;
  using gsort::CheckOutcome;
  nb::register_exception_translator(raise);
  nb::set_leak_warnings(false);  // sleeping threads (lock.hpp) keep objects

  nb::class_<Array>(module, "Array")
      .def(nb::init<nb::bytes, std::string, Bytes, std::optional<nb::bytes>, std::uint64_t, bool>(),
           "name"_a, "header"_a, "bytes"_a, "path"_a.none(), "offset"_a, "in_numpy_order"_a);
  nb::class_<Report> report(module, "Report");
  report.def_ro("output_bytes", &Report::output_bytes)
      .def_ro("bound", &Report::bound_seconds)
      .def_ro("fingerprint", &Report::fingerprint)
      .def_ro("engine", &Report::engine);
  gsort::for_each_statistic(
      [&](const gsort::StatisticRow& row, auto member) { report.def_ro(row.member, member); });
  nb::class_<CheckOutcome>(module, "Outcome")
      .def_ro("in_order", &CheckOutcome::in_order)
      .def_ro("elements", &CheckOutcome::elements)
      .def_ro("distinct", &CheckOutcome::distinct)
      .def_prop_ro("fingerprint",
                   [](const CheckOutcome& outcome) { return to_string(outcome.fingerprint); })
      .def_ro("position", &CheckOutcome::disorder_element)
      .def_ro("value", &CheckOutcome::value)
      .def_ro("value_before", &CheckOutcome::value_before);
  nb::class_<Call>(module, "Call")
      .def("__init__", make_call, "words"_a, "arrays"_a, "order"_a)
      .def_prop_ro("bytes", &Call::bytes)
      .def_prop_ro("memory_bytes", &Call::memory_bytes)
      .def_prop_ro("dtype", &Call::dtype)
      .def_prop_ro("warning", &Call::warning)
      .def_prop_ro("row_elements", &Call::row_elements)
      .def_prop_ro("columns", &Call::columns)
      .def_prop_ro("empty_rows", &Call::empty_rows)
      .def("sort", sort, "room"_a.none(), "watch"_a.none())
      .def("sort_into", sort_into, "descriptor"_a, "place"_a, "watch"_a.none())
      .def("check", check, "watch"_a.none());
  module.def("sort_numbers", sort_numbers, "source"_a, "result"_a, "row_keys"_a, "type"_a,
             "descending"_a, "total"_a, "threads"_a);
  module.def("argsort_numbers", argsort_numbers, "source"_a, "result"_a, "row_keys"_a, "type"_a,
             "descending"_a, "total"_a, "index_bytes"_a, "threads"_a);
  module.def("sort_on_device", sort_device_array, "address"_a, "rows"_a, "row_keys"_a, "type"_a,
             "big_endian"_a, "descending"_a, "total"_a, "offsets"_a, "output"_a, "stream"_a);
  module.def("argsort_on_device", argsort_device_array, "address"_a, "rows"_a, "row_keys"_a,
             "type"_a, "big_endian"_a, "descending"_a, "total"_a, "offsets"_a, "indices"_a,
             "index_bytes"_a, "stream"_a);
  module.def("sort_pairs_on_device", sort_device_pairs, "address"_a, "rows"_a, "row_keys"_a,
             "type"_a, "big_endian"_a, "descending"_a, "total"_a, "offsets"_a, "keys_output"_a,
             "values"_a, "value_bytes"_a, "values_output"_a, "stream"_a);
  module.def("order_streams", order_streams, "neighbour"_a, "earlier"_a, "later"_a);
  nb::class_<DeviceMemory>(module, "DeviceMemory")
      .def(nb::init<std::size_t, std::uintptr_t>(), "bytes"_a, "neighbour"_a)
      .def_prop_ro("address", &DeviceMemory::address)
      .def_prop_ro("device", &DeviceMemory::device)
      .def("tensor", tensor_of, "shape"_a, "kind"_a, "bits"_a);
}
