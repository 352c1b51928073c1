// A contender of a benchmark: its name, and the rival of which it is a variant.
#pragma once

#include <string>
#include <utility>

namespace gsort::bench {

// `rival` is empty for all but CUB's. Variants of one rival do the same work with other versions or
// other types of counts; others are compared with the best of them.
struct Contender {
  std::string name;
  std::string rival;

  Contender(const char* own_name) : name(own_name) {}             // NOLINT(google-explicit-*)
  Contender(std::string own_name) : name(std::move(own_name)) {}  // NOLINT(google-explicit-*)
  Contender(std::string own_name, std::string of_rival)
      : name(std::move(own_name)), rival(std::move(of_rival)) {}
};

}  // namespace gsort::bench
