// A sort that its memory is too small for: what the refusal names works, whatever makes the sort
// large; where no memory of the machine is enough, none is named.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "property/question.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

using test::any_size;
using test::mebibytes;
using test::Question;

// Once in so many cases.
bool one_in(int cases) {
  return *rc::gen::inRange(0, cases) == 0;
}

// Raw keys, text, an array, each of them compressed, or a pipe.
void draw_inputs(Question& q) {
  const std::string name = *rc::gen::element("in", "in.txt", "in.npy", "-");
  const std::string codec = *rc::gen::element("", "", ".gz", ".bz2", ".xz", ".zst");
  q.options.inputs.assign(q.options.merge ? any_size(0, 8) : 1, name == "-" ? name : name + codec);
  const bool is_known = codec.empty() && (name == "in" || name == "in.npy");
  if (is_known) {
    q.machine.input_bytes = round_down(any_size(0, 63), test::element_bytes(q.options));
  }
}

void draw_output(Question& q) {
  q.options.output_format = *rc::gen::element(FileFormat::kBinary, FileFormat::kText);
  if (one_in(3)) q.machine.output.reset();
  if (one_in(2)) return;
  q.options.compress = *rc::gen::element(Codec::kGzip, Codec::kBzip2, Codec::kXz, Codec::kZstd);
  const CodecLevels levels = levels_of(*q.options.compress);
  q.options.compress_level = *rc::gen::inRange(levels.least, levels.most + 1);
}

void draw_result(Question& q) {
  if (one_in(3)) {
    q.options.batch_elements = one_in(2) ? UINT64_MAX - any_size(0, 8) : any_size(0, 63);
    return;
  }
  q.options.merge = one_in(2);
  q.options.unique = one_in(3);
  if (one_in(3)) q.options.top = any_size(0, 63);
  if (one_in(3)) q.options.batch_size = *rc::gen::inRange(2U, 100U);
}

// With little memory, on a machine that has any.
Question any_question() {
  Question q;
  q.options.key.type = *rc::gen::element(KeyType::kU8, KeyType::kI32, KeyType::kF64);
  if (one_in(3)) {
    const auto bytes = static_cast<std::uint32_t>(any_size(2, 14));
    q.options.records = RecordFormat{bytes, {{0, 4, KeyType::kU32, false, false}}};
  }
  const std::uint64_t memory = any_size(22, 42);
  q.machine = test::invented_machine(std::nullopt, *rc::gen::inRange(1U, 65U), memory);
  q.machine.temporary.front().free_bytes = UINT64_MAX;
  q.machine.output->free_bytes = UINT64_MAX;
  q.options.buffer_size = mebibytes(std::min(memory, any_size(20, 28)));
  draw_result(q);
  draw_inputs(q);
  draw_output(q);
  return q;
}

std::string words_of(const Question& q) {
  const Options& o = q.options;
  return "-S " + *o.buffer_size + " of " + format_bytes(q.machine.memory_bytes) + ", " +
         std::to_string(q.machine.cores) + " cores, " + std::to_string(o.inputs.size()) +
         (o.merge ? " sorted inputs " : " inputs ") + o.inputs.front() + " of " +
         std::to_string(q.machine.input_bytes.value_or(0)) + " bytes, elements of " +
         std::to_string(test::element_bytes(o)) + ", arrays of " +
         std::to_string(o.batch_elements.value_or(0)) + ", top " +
         std::to_string(o.top.value_or(0)) + ", output " +
         std::string(name_of(o.compress.value_or(Codec::kNone))) + ':' +
         std::to_string(o.compress_level);
}

// The requirement of a plan that was refused for its memory.
std::optional<Error> refusal_of(const Question& q) {
  try {
    static_cast<void>(test::plan_of(q.options, q.machine));
    return std::nullopt;
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::kUsage);
    RC_ASSERT(error.reason() == "is too small for this sort");
    return error;
  }
}

// The question with what the message names; none where it names nothing.
std::optional<Question> with_what_is_named(const Question& q, const Error& refusal) {
  const std::string words = "use at least ";
  const std::string also = ", with -S ";
  if (!refusal.hint().starts_with(words)) return std::nullopt;
  const std::string least = refusal.hint().substr(words.size());
  const std::size_t end = std::min(least.find(also), least.size());
  const bool host_is_short = refusal.operation().starts_with("-S");
  Question named = q;
  (host_is_short ? named.options.buffer_size : named.options.gpu_memory) = least.substr(0, end);
  if (end < least.size()) named.options.buffer_size = least.substr(end + also.size());
  return named;
}

void check_refusal(const Question& q) {
  RC_LOG() << words_of(q) << '\n';
  const std::optional<Error> refusal = refusal_of(q);
  RC_TAG(refusal.has_value());
  if (!refusal) return;
  RC_LOG() << refusal->what() << '\n';
  if (const auto named = with_what_is_named(q, *refusal)) {
    RC_ASSERT(parse_size(*named->options.buffer_size, 0, "-S") <= q.machine.memory_bytes);
    RC_ASSERT(!refusal_of(*named).has_value());
    return;
  }
  Question with_all = q;
  with_all.options.buffer_size = mebibytes(q.machine.memory_bytes);
  if (!q.machine.gpus.empty()) {
    with_all.options.gpu_memory = mebibytes(q.machine.gpus.front().free_bytes);
  }
  RC_ASSERT(refusal_of(with_all).has_value());
}

TEST(AnyRefusal, NamesMemoryThatWorksOrNone) {
  EXPECT_TRUE(rc::check([] { check_refusal(any_question()); }));
}

TEST(AnyRefusal, OnAGpuNamesMemoriesThatWorkOrNone) {
  EXPECT_TRUE(rc::check([] {
    Question q = any_question();
    test::add_gpu(q.machine, any_size(24, 38));
    q.options.gpu_memory = mebibytes(std::min(any_size(20, 28), q.machine.gpus.front().free_bytes));
    q.options.engine = EngineChoice::kCuda;
    if (q.options.records) q.options.batch_elements.reset();  // which cannot be combined
    check_refusal(q);
  }));
}

}  // namespace
}  // namespace gsort
