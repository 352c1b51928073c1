// gsort-gen: makes test inputs of any type, shape and size, on all cores, the same on every
// machine.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/variables_map.hpp>

#include "base/error.hpp"
#include "base/units.hpp"
#include "element/key.hpp"
#include "gen/generate.hpp"
#include "gen/stream_out.hpp"

namespace {

namespace po = boost::program_options;
using gsort::Error;
using gsort::ErrorKind;

struct Request {
  gsort::GenSpec spec;
  std::string output = "-";
  unsigned threads = 1;
};

po::options_description described() {
  po::options_description options("Options");
  const auto text = [] { return po::value<std::string>(); };
  options.add_options()                                                                    //
      ("type,t", text()->default_value("i32"), std::string(gsort::kKeyTypeNames).c_str())  //
      ("distribution,d", text()->default_value("uniform"), "what the keys look like")      //
      ("count,n", text(), "elements to make")                                              //
      ("size", text(), "bytes to make instead, such as 256M; whole elements are made")     //
      ("seed", text()->default_value("1"), "another seed, another file")                   //
      ("endian", text()->default_value("little"), "byte order: little or big")             //
      ("output,o", text()->default_value("-"), "file to write; - is stdout")               //
      ("parallel", text(), "threads (all cores); the result is the same")                  //
      ("help,h", "this text")                                                              //
      ("version", "name and version");
  return options;
}

std::string help_text(const po::options_description& options) {
  std::ostringstream text;
  text << "gsort-gen makes inputs to sort.\n\n"
          "  gsort-gen -t u32 --size 256M -o input.u32\n"
          "  gsort-gen -t f64 -n 1000000 -d zipf | gsort -t f64 | ...\n\n"
       << options << "\nDistributions:";
  for (const auto distribution : gsort::kAllDistributions) text << ' ' << name_of(distribution);
  text << '\n';
  return text.str();
}

Error usage_error(const std::string& what, const std::string& why) {
  return Error(ErrorKind::kUsage, what, why).hint("gsort-gen -h shows what there is");
}

// Parses the typed text, because Boost would count -5 from the top of the type.
std::uint64_t number_of(const po::variables_map& given, const std::string& name,
                        std::uint64_t least, std::uint64_t most) {
  const auto& text = given[name].as<std::string>();
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc() && stop == end && number >= least && number <= most) return number;
  throw Error(ErrorKind::kUsage, "--" + name + " '" + text + "'", "is not a valid number")
      .hint("give a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

std::uint64_t count_of(const po::variables_map& given, std::uint64_t key_bytes) {
  constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();  // of a file
  if (given.count("count") != 0) return number_of(given, "count", 0, kMostBytes / key_bytes);
  return gsort::parse_size(given["size"].as<std::string>(), 0, "--size") / key_bytes;
}

unsigned threads_of(const po::variables_map& given) {
  constexpr unsigned kMostThreads = 4096;
  if (given.count("parallel") == 0) return std::max(std::thread::hardware_concurrency(), 1U);
  return static_cast<unsigned>(number_of(given, "parallel", 1, kMostThreads));
}

Request request_of(const po::variables_map& given) {
  Request request;
  const auto text = [&given](const char* name) { return given[name].as<std::string>(); };
  const auto type = gsort::key_type_named(text("type"));
  if (!type) throw usage_error("--type '" + text("type") + "'", "is not a key type");
  const auto distribution = gsort::distribution_named(text("distribution"));
  if (!distribution) {
    throw usage_error("--distribution '" + text("distribution") + "'", "is unknown");
  }
  if (text("endian") != "little" && text("endian") != "big") {
    throw usage_error("--endian '" + text("endian") + "'", "is neither little nor big");
  }
  if (given.count("count") == given.count("size")) {
    throw usage_error("options --count and --size", "exactly one of them is needed");
  }
  request.spec = {{*type, text("endian") == "big", false},
                  *distribution,
                  number_of(given, "seed", 0, std::numeric_limits<std::uint64_t>::max()),
                  count_of(given, gsort::bytes_of(*type))};
  request.output = text("output");
  request.threads = threads_of(given);
  return request;
}

void run(const Request& request) {
  const std::uint64_t key_bytes = bytes_of(request.spec.format.type);
  gsort::stream_out(request.output, request.spec.count * key_bytes, request.threads,
                    [&](std::uint64_t offset, std::span<std::byte> block) {
                      generate(request.spec, offset / key_bytes, block);
                    });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const po::options_description options = described();
    po::variables_map given;
    constexpr int kStyle =
        po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(argc, argv).options(options).style(kStyle).positional({}).run(),
        given);
    if (given.count("help") != 0) {
      std::cout << help_text(options);
      return 0;
    }
    if (given.count("version") != 0) {
      std::cout << "gsort-gen " GSORT_VERSION "\n";
      return 0;
    }
    run(request_of(given));
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "gsort-gen: " << problem.what() << '\n';
    return 2;
  }
}
