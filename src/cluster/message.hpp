// A message consists of an envelope, then numbers and texts. All processes of a job run the same
// program on the same kind of machine: numbers are sent as they lie in memory.
//
// Writer and reader take fields of these kinds: plain values, texts, and optional values, lists and
// maps of fields. A struct of fields has a function that lists them, in its namespace:
//
//   template <Is<Example> Any, class Visit>
//   void visit_fields(Any& example, Visit& visit) { visit(example.name, example.numbers); }
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cluster/peers.hpp"

namespace gsort::cluster {

enum class MessageKind : std::uint32_t {
  kBeat,        // the sender lives; to rank 0, also how far it is
  kCollective,  // a step of a sum, a gathering, ...; number: of the step
  kCounts,      // how many elements the sender has for parts of the receiver
  kCredit,      // the receiver may send its slices of a part
  kFrame,       // a stretch of a slice
  kError,       // to rank 0: the sender has failed
  kEnd,         // from rank 0: the job has failed
  kBye,         // the sender sends nothing more
};

struct Envelope {
  MessageKind kind = MessageKind::kBeat;
  std::uint32_t number = 0;
};

inline constexpr const char* kDamagedMessageHint =
    "the network or memory corrupted data; the old output is unchanged, repeat the sort";

[[noreturn]] inline void throw_malformed() {
  throw Error(ErrorKind::kCorrupt, "reading a message from another host", "it is malformed")
      .hint(kDamagedMessageHint);
}

// Any is Value, const or not.
template <class Any, class Value>
concept Is = std::is_same_v<std::remove_const_t<Any>, Value>;

template <class Value, class Visit>
concept HasFields = requires(Value& value, Visit& visit) {
  visit_fields(value, visit);
};

// Puts a message together.
class MessageWriter {
 public:
  MessageWriter() = default;
  explicit MessageWriter(const Envelope& envelope) { put(envelope); }

  template <class Value>
  requires std::is_trivially_copyable_v<Value>
  void put(const Value& value) { put_bytes(std::as_bytes(std::span(&value, 1))); }
  void put_text(std::string_view text) {
    put<std::uint64_t>(text.size());
    put_bytes(std::as_bytes(std::span(text)));
  }
  // GCC 12 may wrongly warn of an overflow: in insert(), and if this is inlined.
  [[gnu::noinline]] void put_bytes(ConstByteSpan bytes) {
    message_.resize(message_.size() + bytes.size());
    std::copy_backward(bytes.begin(), bytes.end(), message_.end());
  }

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (put_field(fields), ...);
  }

  [[nodiscard]] Message take() { return std::move(message_); }

 private:
  template <class Field>
  void put_field(const Field& field) {
    if constexpr (HasFields<const Field, MessageWriter>) {
      visit_fields(field, *this);
    } else {
      put(field);
    }
  }
  void put_field(const std::string& text) { put_text(text); }
  template <class Value>
  void put_field(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put_field(*value);
  }
  template <class Value>
  void put_field(const std::vector<Value>& values) {
    put<std::uint64_t>(values.size());
    for (const Value& value : values) put_field(value);
  }
  template <class Key, class Value>
  void put_field(const std::map<Key, Value>& values) {
    put<std::uint64_t>(values.size());
    for (const auto& [key, value] : values) (*this)(key, value);
  }

  Message message_;
};

// Takes a message apart. Each function throws Error(kCorrupt) if the message is too short.
class MessageReader {
 public:
  explicit MessageReader(ConstByteSpan message) : rest_(message) {}

  template <class Value>
  requires std::is_trivially_copyable_v<Value>
  [[nodiscard]] Value take() {
    if constexpr (std::is_same_v<Value, bool>) {
      const auto byte = take<std::uint8_t>();
      if (byte > 1) throw_malformed();
      return byte == 1;
    }
    Value value;
    std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string take_text() {
    const auto text = take_bytes(take<std::uint64_t>());
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  // The rest, as values.
  template <class Value>
  [[nodiscard]] std::vector<Value> take_rest() {
    if (rest_.size() % sizeof(Value) != 0) throw_malformed();
    std::vector<Value> values(rest_.size() / sizeof(Value));
    std::ranges::copy(take_bytes(rest_.size()), std::as_writable_bytes(std::span(values)).begin());
    return values;
  }
  [[nodiscard]] ConstByteSpan take_bytes(std::uint64_t bytes) {
    if (bytes > rest_.size()) throw_malformed();
    const ConstByteSpan taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  [[nodiscard]] ConstByteSpan rest() const { return rest_; }

  template <class... Fields>
  void operator()(Fields&... fields) {
    (take_field(fields), ...);
  }

 private:
  template <class Field>
  void take_field(Field& field) {
    if constexpr (HasFields<Field, MessageReader>) {
      visit_fields(field, *this);
    } else {
      field = take<Field>();
    }
  }
  void take_field(std::string& text) { text = take_text(); }
  template <class Value>
  void take_field(std::optional<Value>& value) {
    if (take<bool>()) take_field(value.emplace());
  }
  template <class Value>
  void take_field(std::vector<Value>& values) {
    for (auto left = take<std::uint64_t>(); left > 0; --left) take_field(values.emplace_back());
  }
  template <class Key, class Value>
  void take_field(std::map<Key, Value>& values) {
    for (auto left = take<std::uint64_t>(); left > 0; --left) {
      Key key;
      take_field(key);
      take_field(values[std::move(key)]);
    }
  }

  ConstByteSpan rest_;
};

// A message of one value, without an envelope, and the value in it.
template <class Value>
[[nodiscard]] Message message_of(const Value& value) {
  MessageWriter writer;
  writer(value);
  return writer.take();
}
template <class Value>
[[nodiscard]] Value value_in(ConstByteSpan message) {
  MessageReader reader(message);
  Value value;
  reader(value);
  return value;
}

}  // namespace gsort::cluster
