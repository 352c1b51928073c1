#include "app/rates_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/output/output.hpp"

namespace gsort {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = 4096;

// Limits of any machine; a sort never writes other rates.
constexpr double kLeastRate = 1e6;
constexpr double kMostRate = 1e13;
constexpr double kLeastStart = 1e-4;
constexpr double kMostStart = 60;

bool is_absolute(const char* name) {
  return name != nullptr && name[0] == '/';
}

std::string path_under(const char* cache_home, const char* home) {
  constexpr const char* kName = "/gsort/rates.json";
  if (is_absolute(cache_home)) return std::string(cache_home) + kName;
  if (is_absolute(home)) return std::string(home) + "/.cache" + kName;
  return "";
}

std::optional<double> number_in(const Json& json, const char* name, double least, double most) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  const double number = found->get<double>();
  if (!(number >= least && number <= most)) return std::nullopt;
  return number;
}

std::optional<Limits> limits_in(const Json& json) {
  const auto found = json.find("limits");
  if (found == json.end() || !found->is_object()) return std::nullopt;
  const auto read = number_in(*found, "disk_read_bytes_per_second", kLeastRate, kMostRate);
  const auto write = number_in(*found, "disk_write_bytes_per_second", kLeastRate, kMostRate);
  const auto memory = number_in(*found, "memory_bytes_per_second", kLeastRate, kMostRate);
  if (!read || !write || !memory) return std::nullopt;
  return Limits{*read, *write, *memory};
}

bool is_string(const Json& json, const char* name, const std::string& wanted) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() && found->get<std::string>() == wanted;
}

bool is_number(const Json& json, const char* name, int wanted) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() && *found == wanted;
}

void make_folder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(folder, error)) return;
  if (folder.has_parent_path()) make_folder(folder.parent_path());
  if (!fs::create_directory(folder, error)) {
    throw Error::from_errno(ErrorKind::kOutput, "making folder '" + folder.string() + "'",
                            error.value());
  }
  fs::permissions(folder, fs::perms::owner_all, error);
}

}  // namespace

RatesFile::RatesFile(const char* cache_home, const char* home, std::string processor)
    : path_(path_under(cache_home, home)), processor_(std::move(processor)) {}

Rates RatesFile::read(std::string& problem) const {
  std::error_code error;
  // Reading another kind of file might block.
  if (path_.empty() || !std::filesystem::is_regular_file(path_, error)) return {};
  std::array<char, kMostBytes> text{};
  std::ifstream file(path_, std::ios::binary);
  file.read(text.data(), text.size());
  if (file.bad() || !file.gcount()) {
    problem = "using the usual rates: '" + path_ + "' cannot be read";
    return {};
  }
  const std::string_view read(text.data(), static_cast<std::size_t>(file.gcount()));
  const Json json = Json::parse(read, nullptr, false);
  if (!json.is_object()) {
    problem = "using the usual rates: '" + path_ + "' is damaged; you can delete it";
    return {};
  }
  if (!is_number(json, "version", kVersion) || !is_string(json, "processor", processor_)) return {};
  return {number_in(json, "core_bytes_per_second", kLeastRate, kMostRate),
          number_in(json, "gpu_bytes_per_second", kLeastRate, kMostRate),
          number_in(json, "cuda_start_seconds", kLeastStart, kMostStart), limits_in(json)};
}

void RatesFile::write(const Rates& rates) const {
  if (path_.empty()) return;
  Json json = {{"version", kVersion}, {"processor", processor_}};
  const auto add = [&](const char* name, const std::optional<double>& number) {
    if (number) json[name] = *number;
  };
  add("core_bytes_per_second", rates.core_bytes_per_second);
  add("gpu_bytes_per_second", rates.gpu_bytes_per_second);
  add("cuda_start_seconds", rates.cuda_start_seconds);
  if (rates.limits) {
    json["limits"] = {{"disk_read_bytes_per_second", rates.limits->disk_read_bytes_per_second},
                      {"disk_write_bytes_per_second", rates.limits->disk_write_bytes_per_second},
                      {"memory_bytes_per_second", rates.limits->memory_bytes_per_second}};
  }
  const std::string text =
      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  make_folder(std::filesystem::path(path_).parent_path());
  std::error_code error;
  // Opening a FIFO would wait for its reader.
  if (std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error)) {
    throw Error(ErrorKind::kOutput, "writing '" + path_ + "'", "is not a regular file");
  }
  io::Output output(path_);
  output.write_next(std::as_bytes(std::span(text)));
  output.commit(text.size());
}

std::string learned_words(const Rates& before, const Rates& after, const std::string& path) {
  std::string words;
  const auto add = [&](const std::optional<double>& old, const std::optional<double>& rate,
                       const auto& text_of) {
    if (rate && rate != old) words += (words.empty() ? "" : ", ") + text_of(*rate);
  };
  add(before.core_bytes_per_second, after.core_bytes_per_second,
      [](double rate) { return rate_words(rate) + " a core"; });
  add(before.gpu_bytes_per_second, after.gpu_bytes_per_second,
      [](double rate) { return rate_words(rate) + " on the GPU"; });
  add(before.cuda_start_seconds, after.cuda_start_seconds,
      [](double seconds) { return fmt::format("{:.2f} s to start CUDA", seconds); });
  return fmt::format("learned rates: {}; kept in {}", words, path);
}

std::string processor_name() {
  constexpr std::string_view kField = "model name";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kField)) continue;
    const std::size_t begin = line.find_first_not_of(": \t", kField.size());
    if (begin != std::string::npos) return line.substr(begin, 200);
  }
  return "unknown";
}

}  // namespace gsort
