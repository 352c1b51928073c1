// See request.hpp.
#include "bench/request.hpp"

#include <charconv>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/variables_map.hpp>

#include "base/error.hpp"
#include "bench/subcommands.hpp"

namespace gsort::bench {
namespace {

namespace po = boost::program_options;

po::options_description described() {
  po::options_description options("Options; lists are separated by commas");
  const auto text = [] { return po::value<std::string>(); };
  options.add_options()                                                          //
      ("subcommand", text(), "what to measure")                                  //
      ("type,t", text(), "key types: u32 i32 f32 u64 i64 f64")                   //
      ("values", text(), "merge, batch: of pairs with such values, u32 u64")     //
      ("elements,n", text(), "counts such as 1000000, 16M or 2^28")              //
      ("array-keys,d", text(), "keys of each array of a batch")                  //
      ("distribution", text()->default_value("uniform"), "gsort-gen's, or all")  //
      ("engine", text()->default_value("auto"), "auto, cpu or cuda")             //
      ("repeat", po::value<int>()->default_value(9),
       "timed runs, or fewer once they took a second; the table has their median")            //
      ("seed", po::value<std::uint64_t>(), "repeat the inputs of a run; fresh unless given")  //
      ("parallel", po::value<unsigned>(), "threads (all cores)")                              //
      ("folder", text()->default_value("."), "where ceilings makes its files")                //
      ("file-size", text()->default_value("4G"), "and how large each is")                     //
      ("keep", "ceilings: keep the rates of disk and memory for gsort --stats")               //
      ("json", text(), "write all results to this file, too")                                 //
      ("help,h", "this text")                                                                 //
      ("version", "name and version");
  return options;
}

std::string help_text(const po::options_description& options) {
  std::ostringstream text;
  text << "gsort-bench measures gsort's parts beside their rivals. Every output is verified.\n\n"
          "  gsort-bench sort --elements 2^24,2^28 --type u32,u64 --json sort.json\n"
          "  gsort-bench ceilings --folder /scratch\n\n";
  for (const Subcommand& subcommand : subcommands()) {
    text << "  " << subcommand.name << std::string(12 - subcommand.name.size(), ' ')
         << subcommand.summary << '\n';
  }
  text << '\n' << options << "\nDistributions: all";
  for (const Distribution distribution : kAllDistributions) text << ' ' << name_of(distribution);
  text << '\n';
  return text.str();
}

Error usage_error(std::string_view option, std::string_view given, const std::string& why) {
  return Error(ErrorKind::kUsage, "--" + std::string(option) + " '" + std::string(given) + "'", why)
      .hint("gsort-bench -h shows what there is");
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::stringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::vector<KeyType> types_of(const std::string& list) {
  std::vector<KeyType> types;
  for (const std::string& word : words_of(list)) {
    const auto type = key_type_named(word);
    if (!type) throw usage_error("type", word, "is not a key type");
    if (bytes_of(*type) < 4) throw usage_error("type", word, "is counted, not sorted");
    types.push_back(*type);
  }
  return types;
}

// Values are opaque, so only their widths matter.
std::vector<KeyType> values_of(const std::string& list, const std::string& subcommand) {
  std::vector<KeyType> types;
  for (const std::string& word : words_of(list)) {
    if (subcommand != "merge" && subcommand != "batch") {
      throw usage_error("values", word, "is for merge and batch alone");
    }
    const auto type = key_type_named(word);
    if (type != KeyType::kU32 && type != KeyType::kU64) {
      throw usage_error("values", word, "is not u32 or u64");
    }
    types.push_back(*type);
  }
  return types;
}

std::vector<Distribution> distributions_of(const std::string& list) {
  if (list == "all") return {std::begin(kAllDistributions), std::end(kAllDistributions)};
  std::vector<Distribution> distributions;
  for (const std::string& word : words_of(list)) {
    const auto distribution = distribution_named(word);
    if (!distribution) throw usage_error("distribution", word, "is unknown");
    distributions.push_back(*distribution);
  }
  return distributions;
}

std::vector<std::uint64_t> counts_of(const std::string& list, std::string_view option) {
  std::vector<std::uint64_t> counts;
  for (const std::string& word : words_of(list)) counts.push_back(parse_count(word, option));
  return counts;
}

EngineChoice engine_of(const std::string& word) {
  if (word == "auto") return EngineChoice::kAuto;
  if (word == "cpu") return EngineChoice::kCpu;
  if (word == "cuda") return EngineChoice::kCuda;
  throw usage_error("engine", word, "is not auto, cpu or cuda");
}

Request request_of(const po::variables_map& given) {
  const auto text = [&given](const char* name) {
    return given.count(name) != 0 ? given[name].as<std::string>() : std::string();
  };
  Request request;
  request.subcommand = text("subcommand");
  request.types = types_of(text("type"));
  request.values = values_of(text("values"), request.subcommand);
  request.elements = counts_of(text("elements"), "elements");
  request.array_keys = counts_of(text("array-keys"), "array-keys");
  request.distributions = distributions_of(text("distribution"));
  request.engine = engine_of(text("engine"));
  request.repeat = given["repeat"].as<int>();
  if (request.repeat < 1) throw usage_error("repeat", std::to_string(request.repeat), "is no run");
  request.seed = given.count("seed") != 0
                     ? given["seed"].as<std::uint64_t>()
                     : (std::uint64_t{std::random_device{}()} << 32) + std::random_device{}();
  request.threads = given.count("parallel") != 0 ? given["parallel"].as<unsigned>()
                                                 : std::thread::hardware_concurrency();
  if (request.threads == 0) request.threads = 1;
  request.folder = text("folder");
  request.file_bytes = parse_size(text("file-size"), 0, "--file-size");
  request.keeps_limits = given.count("keep") != 0;
  if (request.keeps_limits && request.subcommand != "ceilings") {
    throw usage_error("keep", "", "is for ceilings alone");
  }
  request.json_path = text("json");
  return request;
}

}  // namespace

std::uint64_t parse_count(std::string_view text, std::string_view option) {
  const bool is_power = text.starts_with("2^");
  std::uint64_t number = 0;
  const std::string_view digits = is_power ? text.substr(2) : text;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  const std::string_view suffix(end, static_cast<std::size_t>(digits.end() - end));
  unsigned shift = 0;
  if (suffix == "K") shift = 10;
  if (suffix == "M") shift = 20;
  if (suffix == "G") shift = 30;
  if (error != std::errc() || (!suffix.empty() && (shift == 0 || is_power)) ||
      (is_power && number > 40) || (!is_power && number > (std::uint64_t{1} << 40) >> shift)) {
    throw usage_error(option, text, "is not a count up to 2^40");
  }
  return is_power ? std::uint64_t{1} << number : number << shift;
}

std::optional<Request> parse_request(int argc, char** argv) {
  const po::options_description options = described();
  po::positional_options_description positional;
  positional.add("subcommand", 1);
  po::variables_map given;
  constexpr int kStyle =
      po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const auto parser = po::command_line_parser(argc, argv).options(options).style(kStyle);
  po::store(po::command_line_parser(parser).positional(positional).run(), given);
  if (given.count("version") != 0) {
    std::cout << "gsort-bench " GSORT_VERSION "\n";
    return std::nullopt;
  }
  if (given.count("help") != 0 || given.count("subcommand") == 0) {
    std::cout << help_text(options);
    return std::nullopt;
  }
  Request request = request_of(given);
  request.command_line = "gsort-bench";
  for (int i = 1; i < argc; ++i) request.command_line += std::string(" ") + argv[i];
  return request;
}

}  // namespace gsort::bench
