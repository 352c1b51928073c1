// See report.hpp.
#include "bench/report.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace gsort::bench {
namespace {

double keys_per_second(const Result& result) {
  return static_cast<double>(result.keys) / result.times.median_ms * 1e3;
}

double bytes_per_second(const Result& result) {
  return static_cast<double>(result.bytes) / result.times.median_ms * 1e3;
}

// The best rate of CUB's contenders that were right; 0 if there is none.
double cub_rate(const std::vector<Result>& results) {
  double best = 0;
  for (const Result& result : results) {
    if (!result.rival.empty() && result.verdict != Verdict::kWrong) {
      best = std::max(best, bytes_per_second(result));
    }
  }
  return best;
}

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified:
      return "verified";
    case Verdict::kWrong:
      return "WRONG";
    case Verdict::kNothingToVerify:
      break;
  }
  return "-";
}

std::string row_of(const Result& result, double copy_rate, double best_of_cub) {
  std::string row = fmt::format("  {:<52} {:>10.3f}", result.contender, result.times.median_ms);
  row += result.keys == 0 ? std::string(10, ' ')
                          : fmt::format(" {:>9.4g}", keys_per_second(result) * 1e-9);
  row += fmt::format(" {:>9.4g}", bytes_per_second(result) * 1e-9);
  row += copy_rate > 0 ? fmt::format(" {:>7.1f}%", 100 * bytes_per_second(result) / copy_rate)
                       : "        -";
  row += best_of_cub > 0 ? fmt::format(" {:>8.3f}", bytes_per_second(result) / best_of_cub)
                         : "        -";
  row += fmt::format("  {}", word_of(result.verdict));
  return result.note.empty() ? row : row + "  " + result.note;
}

// The "model name" of the first processor; empty if /proc has none.
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "";
}

nlohmann::json json_of(const Result& result, double copy_rate, double best_of_cub) {
  nlohmann::json json = {{"contender", result.contender},
                         {"median_ms", result.times.median_ms},
                         {"least_ms", result.times.least_ms},
                         {"most_ms", result.times.most_ms},
                         {"keys", result.keys},
                         {"bytes", result.bytes},
                         {"gkeys_per_s", keys_per_second(result) * 1e-9},
                         {"gb_per_s", bytes_per_second(result) * 1e-9},
                         {"is_cub", !result.rival.empty()},
                         {"verified", word_of(result.verdict)}};
  if (copy_rate > 0) json["share_of_copy"] = bytes_per_second(result) / copy_rate;
  if (best_of_cub > 0) json["ratio_to_cub"] = bytes_per_second(result) / best_of_cub;
  if (!result.rival.empty()) json["rival"] = result.rival;
  if (!result.note.empty()) json["note"] = result.note;
  return json;
}

}  // namespace

Times Times::of(std::vector<double> all_ms) {
  std::sort(all_ms.begin(), all_ms.end());
  return {all_ms[all_ms.size() / 2], all_ms.front(), all_ms.back()};
}

Report::Report(const Request& request, std::string device, std::ostream& out)
    : request_(request), device_(std::move(device)), out_(out) {
  out_ << "# " << request.command_line << '\n'
       << "# " << (device_.empty() ? "no GPU" : device_) << "; " << request.threads
       << " threads of " << cpu_name() << "; seed " << request.seed << "\n";
}

void Report::say(const std::string& line) {
  lines_.push_back(line);
  out_ << "# " << line << std::endl;
}

void Report::set_copy_rate(double bytes_per_second) {
  copy_rate_ = bytes_per_second;
  if (copy_rate_ > 0) {
    say(fmt::format("device copy: {:.2f} TB/s, read and written together", copy_rate_ * 1e-12));
  }
}

void Report::add(const Group& group, const std::vector<Result>& results) {
  if (results.empty()) throw Error(ErrorKind::kUsage, group.title, "has no contenders");
  const double best_of_cub = cub_rate(results);
  out_ << '\n'
       << group.title << '\n'
       << fmt::format("  {:<52} {:>10} {:>9} {:>9} {:>8} {:>8}\n", "contender", "ms", "Gkeys/s",
                      "GB/s", "of copy", "x CUB");
  for (const Result& result : results) {
    out_ << row_of(result, copy_rate_, best_of_cub) << '\n';
    if (result.verdict == Verdict::kWrong) ++wrong_;
    if (result.verdict == Verdict::kVerified) ++verified_;
  }
  out_ << std::flush;
  entries_.push_back({group, results, copy_rate_});
}

std::string Report::json() const {
  nlohmann::json all = {{"command", request_.command_line},
                        {"device", device_},
                        {"processor", cpu_name()},
                        {"threads", request_.threads},
                        {"repeat", request_.repeat},
                        {"seed", request_.seed},
                        {"lines", lines_},
                        {"groups", nlohmann::json::array()}};
  for (const Entry& entry : entries_) {
    nlohmann::json group = {
        {"subcommand", request_.subcommand}, {"title", entry.group.title},
        {"type", entry.group.type},          {"distribution", entry.group.distribution},
        {"elements", entry.group.elements},  {"copy_gb_per_s", entry.copy_rate * 1e-9},
        {"results", nlohmann::json::array()}};
    if (!entry.group.parameter.empty()) {
      group[entry.group.parameter] = entry.group.parameter_value;
    }
    const double best_of_cub = cub_rate(entry.results);
    for (const Result& result : entry.results) {
      group["results"].push_back(json_of(result, entry.copy_rate, best_of_cub));
    }
    all["groups"].push_back(group);
  }
  return all.dump(1) + "\n";
}

void Report::finish() {
  out_ << fmt::format("\n{} contenders verified, {} wrong\n", verified_, wrong_) << std::flush;
  if (request_.json_path.empty()) return;
  std::ofstream file(request_.json_path);
  file << json();
  file.close();
  if (!file) throw Error::from_errno(ErrorKind::kOutput, "writing " + request_.json_path, errno);
}

}  // namespace gsort::bench
