// Texts of -h, --help and the manual page besides the options: examples, environment, exit status.
#pragma once

#include <string_view>

namespace gsort {

struct Example {
  std::string_view command;
  std::string_view meaning;
};

inline constexpr Example kExamples[] = {
    {"gsort input.bin -o output.bin", "signed 32-bit integers, file to file"},
    {"gsort -t u64 ids.bin -o ids.bin", "replace the input atomically"},
    {"producer | gsort -t f64 > out.f64", "from and to pipes"},
    {"gsort -r dump.u32 -o top.u32", "the type from the suffix, largest first"},
    {"gsort -c out.f64", "is it sorted?"},
    {"gsort -m --subtract a.u64 b.u64", "keys of only the first sorted file"},
    {"gsort --shuffle=1 a.u64 -o b.u64", "a random order, the same each time"},
    {"gsort --explain -S 1G big.u64", "what would happen with 1 GiB of memory"},
};

// For gsort-mpi.
inline constexpr std::string_view kClusterUsage =
    "Usage: mpirun ... gsort-mpi [OPTION]... FILE... -o OUTPUT     one process on each host\n";

inline constexpr Example kClusterExamples[] = {
    {"srun gsort-mpi big.u64 -o sorted.u64", "a job with one task on each node"},
    {"mpirun -N 1 gsort-mpi a.u64 -o b.u64", "the same with Open MPI"},
    {"gsort-mpi -T /local a.f32 -o b.f32", "runs on a local disk of each host"},
    {"gsort-mpi --parts a.u64 -o b-{rank}.u64", "a file per process, on any disk"},
    {"gsort-mpi --inputs-here /in/*.u64 -o a.u64", "local FILEs of each host"},
    {"mpirun -N 1 gsort-mpi -c sorted.u64", "is it sorted?"},
};

inline constexpr std::string_view kClusterNotes =
    "All hosts must see the inputs and the folder of the output under the same paths; the inputs "
    "may be local with --inputs-here, and that folder with --parts. Each host reads an equal share "
    "of the input and writes an equal share of the output, to within 4 MiB. "
    "Not supported yet: --merge, stdin, stdout and pipes, text and compressed inputs, and text and "
    "compressed outputs without --parts.";

struct Described {
  std::string_view name;
  std::string_view brief;      // for --help: a line of at most 56 characters
  std::string_view more = {};  // for the manual page: whole sentences
};

inline constexpr Described kVariables[] = {
    {"GSORT_OPTIONS", "default options of resources and reporting",
     "They are placed before the command line's. No result depends on them: options that change "
     "what comes out are errors here, and file operands, too. Words are separated by blanks. "
     "Single or double quotes keep blanks in a word, and a backslash keeps the character after "
     "it, also between quotes. There is no expansion."},
    {"GSORT_TYPE", "default type if neither -t nor a suffix gives one", "One of the words of -t."},
    {"GSORT_CACHE", "off: neither use nor keep measured rates",
     "Otherwise they are in the file that FILES names."},
    {"TMPDIR", "folder for temporary files if -T is not given", ""},
    {"NO_COLOR", "set to anything: no color, unless --color=always", ""},
    {"TERM", "dumb: no color and no status line", ""},
    {"CUDA_VISIBLE_DEVICES", "which GPUs there are, as for every CUDA program", ""},
};

inline constexpr Described kExitStatuses[] = {
    {"0", "done"},
    {"1", "--check found disorder, or --expect a difference"},
    {"2", "error, reported on stderr; output and inputs unchanged",
     "With --each, the other FILEs are sorted all the same. "
     "There are two exceptions, and the message names them: if the folder of the output cannot be "
     "synced, the new output is in place, but may not survive a power cut; if only a report cannot "
     "be written, the sorted output is in place."},
};

inline constexpr Described kClusterVariables[] = {
    {"GSORT_OPTIONS", "default options of resources and reporting",
     "Of rank 0: all processes use it."},
    {"GSORT_TYPE", "default type if neither -t nor a suffix gives one",
     "Of rank 0: all processes use it."},
    {"TMPDIR", "folder for runs if -T is not given, on each host", ""},
};

inline constexpr Described kClusterExitStatuses[] = {
    {"0", "done"},
    {"1", "--check found disorder, or --expect a difference"},
    {"2", "error on some host; see its message",
     "One message names the host. Inputs and output are unchanged, unless it says that the "
     "output is in place. What mpirun or srun return may be another number."},
};

}  // namespace gsort
