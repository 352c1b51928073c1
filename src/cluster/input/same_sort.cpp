#include "cluster/input/same_sort.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "app/files.hpp"
#include "base/error.hpp"
#include "element/key.hpp"
#include "io/system/sys.hpp"
#include "options/assumed_type.hpp"
#include "options/job.hpp"

namespace gsort::cluster {
namespace {

constexpr const char* kElsewhere =
    "use gsort on one machine; gsort-mpi --help lists what works on several";

// The error for a feature that gsort has and gsort-mpi does not: "reading standard input".
Error not_yet(std::string what) {
  return Error(ErrorKind::kUsage, std::move(what), "gsort-mpi cannot do this yet").hint(kElsewhere);
}

struct Fact {
  const char* name;
  std::string value;
};
using Facts = std::vector<Fact>;

Facts facts_of_elements(const Request& request, const Job& job) {
  return {{"the elements of the inputs", resumable_job(job, request.input_form)},
          {"the dtypes of the inputs", job.dtype ? job.dtype->descr : "none"},
          {"the formats of the outputs", std::string(name_of(job.output_form.format))}};
}

// Facts of inputs that must be the same on all hosts.
Facts facts_of_inputs(const io::Reader& reader) {
  std::string times;
  for (std::size_t input = 0; input < reader.inputs(); ++input) {
    const auto state = reader.state_of(input);
    times += fmt::format("{}{}", times.empty() ? "" : " ", state ? state->changed_ns : 0);
  }
  const std::uint64_t bytes = reader.known_size().value_or(0);
  std::vector<std::byte> sample(std::size_t{64} << 10);
  const std::size_t sampled = reader.sample(sample, 0, bytes);
  return {{"the bytes of the inputs", std::to_string(bytes)},
          {"the times of the inputs' last changes", times},
          {"the checksum of sampled elements",
           fmt::format("{:016x}", XXH3_64bits(sample.data(), sampled))}};
}

void refuse_unsupported(const Request& request, const io::Reader& reader, const Job& job) {
  if (const auto input = reader.input_of_unknown_size()) {
    throw Error(ErrorKind::kUsage, "reading",
                "gsort-mpi cannot read pipes, text or compressed files yet")
        .path(reader.path_of(*input))
        .hint(
            "use gsort on one machine, or its --form --inputs-here, --take and --join on several");
  }
  if (job.array_elements > 0 || job.empty_rows) {
    throw not_yet("sorting each row of an array")
        .hint(
            "add --key, as in --key=0, to sort whole rows by columns; or use gsort on one machine");
  }
  if (request.inputs_here && job.type_source == TypeSource::kDefault) {
    throw Error(ErrorKind::kUsage, "option --inputs-here", "needs a type of the elements")
        .hint(how_to_give_the_type(job.element));
  }
}

// A pipe, a terminal or another device. To open a pipe would wait for its other end.
bool is_stream(const std::string& path) {
  struct stat facts = {};
  return io::sys::stat_at(AT_FDCWD, path.c_str(), &facts, 0) == 0 && !S_ISREG(facts.st_mode) &&
         !S_ISDIR(facts.st_mode);
}

// Before the inputs are opened: pipes and devices, too.
void refuse_standard_input(const Request& request) {
  if (std::ranges::count(request.inputs, "-") > 0) {
    if (!request.inputs_here) throw not_yet("reading standard input");
    throw error_of_host(not_yet("reading standard input"))
        .hint("give this process at least one input file, which may be empty");
  }
  const auto stream = std::ranges::find_if(request.inputs, is_stream);
  if (stream == request.inputs.end()) return;
  throw error_of_host(not_yet("reading the pipe or device").path(*stream));
}

void refuse_output(const Request& request) {
  if (request.output.value_or("-") == "-") {
    throw not_yet("writing standard output").hint("name the output with -o");
  }
  if (is_stream(*request.output)) {
    throw error_of_host(not_yet("writing the pipe or device").path(*request.output));
  }
}

// The place of an element in one file is not known before all elements before it are.
void refuse_output_form(const Request& request, const OutputForm& form) {
  if (request.parts || form.is_plain()) return;
  const char* const what =
      form.codec != Codec::kNone ? "compressing into one file" : "writing text into one file";
  throw not_yet(what)
      .path(*request.output)
      .hint("add --parts, which writes one file for each process");
}

void require_same_sort(Team& team, const Request& request, const io::Reader& reader,
                       const Job& job) {
  on_this_host([&] { refuse_unsupported(request, reader, job); });
  Facts own = facts_of_elements(request, job);
  if (!request.inputs_here) std::ranges::copy(facts_of_inputs(reader), std::back_inserter(own));
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
          .hint(request.inputs_here ? "all hosts must have inputs of the same elements"
                : job.shuffle
                    ? "all hosts must see the same inputs under the same paths"
                    : "all hosts must see the same inputs under the same paths; --inputs-here is "
                      "for inputs that are not the same");
    }
    ++rank;
  }
}

}  // namespace

Job open_same_inputs(Team& team, const Options& options, std::optional<io::Reader>& reader,
                     std::string& note) {
  const Request& request = request_of(options);
  const bool sorts = request.check == CheckMode::kNone && !request.fingerprint;
  refuse_standard_input(request);
  if (sorts) refuse_output(request);
  team.work([&] {
    reader.emplace(request.inputs, on_this_host([&] { return reader_options(options); }));
  });
  Job job = on_this_host([&] { return job_of(options, *reader); });
  note = note_of_types(request, job);
  require_same_sort(team, request, *reader, job);
  if (sorts) refuse_output_form(request, job.output_form);
  return job;
}

}  // namespace gsort::cluster
