#include "cluster/input/same_sort.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "element/key.hpp"
#include "options/pages/help.hpp"

namespace gsort::cluster {
namespace {

struct Fact {
  const char* name;
  std::string value;
};
using Facts = std::array<Fact, 5>;

Facts facts_of(const io::Reader& reader, const Job& job) {
  std::string version = version_text(Program::kCluster);
  version.pop_back();  // the end of the line
  std::string times;
  for (std::size_t input = 0; input < reader.inputs(); ++input) {
    const auto state = reader.state_of(input);
    times += fmt::format("{}{}", times.empty() ? "" : " ", state ? state->changed_ns : 0);
  }
  const std::uint64_t bytes = reader.known_size().value_or(0);
  std::vector<std::byte> sample(std::size_t{64} << 10);
  const std::size_t sampled = reader.sample(sample, 0, bytes);
  return {{{"the program's version", version},
           {"the element's bytes", std::to_string(job.element.bytes())},
           {"the bytes of the inputs", std::to_string(bytes)},
           {"the times of the inputs' last changes", times},
           {"the checksum of sampled elements",
            fmt::format("{:016x}", XXH3_64bits(sample.data(), sampled))}}};
}

void refuse_unsupported(const io::Reader& reader, const Job& job) {
  if (!reader.known_size()) throw not_yet("reading pipes, text and compressed files");
  if (job.array_elements > 0) throw not_yet("reading arrays of two dimensions");
}

}  // namespace

Error not_yet(std::string what) {
  return Error(ErrorKind::kUsage, std::move(what), "gsort-mpi cannot do this yet")
      .hint("use gsort on one machine; gsort-mpi --help says what works on several");
}

void refuse_standard_input(const Options& options) {
  if (std::ranges::count(options.inputs, "-") > 0) throw not_yet("reading standard input");
}

void require_same_sort(Team& team, const io::Reader& reader, const Job& job) {
  refuse_unsupported(reader, job);
  const Facts own = facts_of(reader, job);
  MessageWriter writer;
  for (const Fact& fact : own) writer.put_text(fact.value);
  unsigned rank = 0;
  for (const Message& message : team.gather(writer.take())) {
    MessageReader facts(message);
    for (const Fact& fact : own) {
      const std::string value = facts.take_text();
      if (value == fact.value) continue;
      throw Error(
          ErrorKind::kUsage, fmt::format("comparing {}", fact.name),
          fmt::format("{} on {}, {} on {}", fact.value, team.name_of(0), value, team.name_of(rank)))
          .hint(
              "all hosts must run the same gsort-mpi, and see the same inputs under the same "
              "paths");
    }
    ++rank;
  }
}

}  // namespace gsort::cluster
