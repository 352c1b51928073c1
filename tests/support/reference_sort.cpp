// reference-sort TYPE [big] [descending] [unique] [alike] [total] [array=N] [top=N] < in > out
// reference-sort record=SIZE key=OFFSET:TYPE[r],... [the same words] < in > out
//
// std::stable_sort of the whole input, or of every N elements, sharing nothing with gsort: values
// are compared by their types: integers by value; floats by value, NaN last, or with `total` in
// IEEE's totalOrder; times as signed, but the least number last; bytesN as by std::memcmp. Equal
// floats outside records are ordered by their bits; others keep their order. `unique` keeps the
// first of equal keys, `top` then the first N of the result; `alike` turns equal floats outside
// records into the same one, 0 or NaN without a sign.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/key_values.hpp"

namespace {

using Bytes = std::vector<char>;
using Compare = std::weak_ordering (*)(const char*, const char*, std::size_t bytes, bool big);
struct Request;

// A key of an element, or the whole of it.
struct Key {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  Compare compare = nullptr;
  bool descending = false;
  Bytes (*sort_alone)(const Request&, const Bytes&) = nullptr;  // elements that are this key alone
};

struct Request {
  std::size_t element_bytes = 0;
  std::vector<Key> keys;
  bool big_endian = false;
  bool descending = false;
  bool unique = false;
  bool alike = false;
  bool total = false;
  std::size_t array_elements = SIZE_MAX;
  std::size_t top_elements = SIZE_MAX;
};

template <class Number>
Number number_at(const char* from, bool big) {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, from, sizeof(Number));
  if (big) std::reverse(std::begin(bytes), std::end(bytes));
  Number number;
  std::memcpy(&number, bytes, sizeof(Number));
  return number;
}

template <class Number>
std::weak_ordering compare_as(const char* left, const char* right, std::size_t, bool big) {
  return gsort::test::compare_numbers(number_at<Number>(left, big), number_at<Number>(right, big));
}

template <class Number>
std::strong_ordering compare_totally(const Number& left, const Number& right) {
  return std::strong_order(gsort::test::number_of(left), gsort::test::number_of(right));
}

template <class Number>
std::weak_ordering compare_totally_as(const char* left, const char* right, std::size_t, bool big) {
  return compare_totally(number_at<Number>(left, big), number_at<Number>(right, big));
}

std::weak_ordering compare_bytes(const char* left, const char* right, std::size_t bytes, bool) {
  return std::memcmp(left, right, bytes) <=> 0;
}

// Like sorted(), for elements that are one number each. It sorts the numbers, not pointers to them.
// The order includes all bits, so the sort need not be stable.
template <class Number>
Bytes sorted_numbers(const Request& request, const Bytes& input) {
  std::vector<Number> numbers(input.size() / sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = number_at<Number>(input.data() + i * sizeof(Number), request.big_endian);
  }
  if (request.alike) std::ranges::for_each(numbers, gsort::test::make_alike<Number>);
  const bool descending = request.keys.front().descending != request.descending;
  const auto comes_first = [&](const Number& a, const Number& b) {
    const Number& left = descending ? b : a;
    const Number& right = descending ? a : b;
    return (request.total ? compare_totally(left, right) : gsort::test::compare_keys(left, right)) <
           0;
  };
  const auto end = numbers.end();
  for (auto begin = numbers.begin(); begin != end;) {
    const auto left = static_cast<std::size_t>(end - begin);
    const auto next = begin + static_cast<std::ptrdiff_t>(std::min(request.array_elements, left));
    std::sort(begin, next, comes_first);
    begin = next;
  }
  if (request.unique) {
    const auto equal = [&](const Number& left, const Number& right) {
      return request.total ? compare_totally(left, right) == 0
                           : gsort::test::compare_numbers(left, right) == 0;
    };
    numbers.erase(std::unique(numbers.begin(), end, equal), end);
  }
  numbers.resize(std::min(numbers.size(), request.top_elements));
  Bytes output(numbers.size() * sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto* from = reinterpret_cast<const char*>(&numbers[i]);
    const Number stored = number_at<Number>(from, request.big_endian);
    std::memcpy(output.data() + i * sizeof(Number), &stored, sizeof(Number));
  }
  return output;
}

Key key_of(std::size_t offset, const std::string& type, bool total) {
  if (type.starts_with("bytes")) return {offset, std::stoull(type.substr(5)), compare_bytes};
  Key key = {offset};
  gsort::test::with_value_named(type, [&](auto value) {
    key.bytes = sizeof(value);
    key.compare = total ? compare_totally_as<decltype(value)> : compare_as<decltype(value)>;
    key.sort_alone = sorted_numbers<decltype(value)>;
  });
  return key;
}

std::vector<Key> keys_of(const std::string& text, bool total) {
  std::vector<Key> keys;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t colon = word.find(':');
    const bool descending = word.ends_with('r');
    const std::string type = word.substr(colon + 1, word.size() - colon - 1 - (descending ? 1 : 0));
    keys.push_back(key_of(std::stoull(word), type, total));
    keys.back().descending = descending;
    keys.back().sort_alone = nullptr;  // records keep the order of equal ones
  }
  return keys;
}

Request request_of(std::span<char*> words) {
  Request request;
  request.total = std::ranges::any_of(words, [](std::string_view word) { return word == "total"; });
  for (const std::string word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "total") continue;
    if (name == "big") {
      request.big_endian = true;
    } else if (name == "descending") {
      request.descending = true;
    } else if (name == "unique") {
      request.unique = true;
    } else if (name == "alike") {
      request.alike = true;
    } else if (name == "array") {
      request.array_elements = std::stoull(value);
    } else if (name == "top") {
      request.top_elements = std::stoull(value);
    } else if (name == "record") {
      request.element_bytes = std::stoull(value);
    } else if (name == "key") {
      request.keys = keys_of(value, request.total);
    } else {
      request.keys = {key_of(0, word, request.total)};
      request.element_bytes = request.keys.front().bytes;
    }
  }
  const auto fits = [&request](const Key& key) {
    return key.offset + key.bytes <= request.element_bytes;
  };
  if (request.keys.empty() || !std::all_of(request.keys.begin(), request.keys.end(), fits)) {
    throw std::invalid_argument("no key, or one beyond the element");
  }
  return request;
}

std::weak_ordering compare(const Request& request, const char* left, const char* right) {
  for (const Key& key : request.keys) {
    const auto order =
        key.compare(left + key.offset, right + key.offset, key.bytes, request.big_endian);
    if (order == 0) continue;
    return key.descending != request.descending ? 0 <=> order : order;
  }
  return std::weak_ordering::equivalent;
}

Bytes sorted(const Request& request, const Bytes& input) {
  const Key& first = request.keys.front();
  if (first.sort_alone != nullptr && first.bytes == request.element_bytes) {
    return first.sort_alone(request, input);
  }
  const std::size_t count = input.size() / request.element_bytes;
  std::vector<const char*> elements(count);
  for (std::size_t i = 0; i < count; ++i) elements[i] = input.data() + i * request.element_bytes;
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t end = begin + std::min(request.array_elements, count - begin);
    std::stable_sort(elements.begin() + static_cast<std::ptrdiff_t>(begin),
                     elements.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](auto left, auto right) { return compare(request, left, right) < 0; });
    begin = end;
  }
  if (request.unique) {
    const auto equal = [&](auto left, auto right) { return compare(request, left, right) == 0; };
    elements.erase(std::unique(elements.begin(), elements.end(), equal), elements.end());
  }
  elements.resize(std::min(elements.size(), request.top_elements));
  Bytes output;
  output.reserve(elements.size() * request.element_bytes);
  for (const char* element : elements) {
    output.insert(output.end(), element, element + request.element_bytes);
  }
  return output;
}

Bytes all_of(std::FILE* file) {
  Bytes bytes;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t old = bytes.size();
    bytes.resize(old + (old / 2) + (std::size_t{1} << 16));
    got = std::fread(bytes.data() + old, 1, bytes.size() - old, file);
    bytes.resize(old + got);
  }
  if (std::ferror(file) != 0) throw std::runtime_error("the input cannot be read");
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Request request = request_of(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    const Bytes input = all_of(stdin);
    if (input.size() % request.element_bytes != 0) return 2;
    const Bytes output = sorted(request, input);
    std::cout.write(output.data(), static_cast<std::streamsize>(output.size())).flush();
    return std::cout ? 0 : 2;
  } catch (const std::exception& problem) {
    std::cerr << "usage: reference-sort TYPE [big] [descending] [unique] [alike] [total] [array=N] "
                 "[top=N]\n"
                 "       reference-sort record=SIZE key=OFFSET:TYPE[r],... [...]\n"
              << problem.what() << '\n';
    return 2;
  }
}
