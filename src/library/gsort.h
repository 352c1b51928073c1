/* gsort for C: sorts, merges and checks files as the program does. C99; link with -lgsort.
 *
 *   const char* inputs[] = {"dump.u64"};
 *   const char* options[] = {"-r", "-S", "2G", NULL};
 *   if (gsort_sort(inputs, 1, "sorted.u64", options, NULL) != GSORT_DONE) {
 *     fprintf(stderr, "%s\n  %s\n", gsort_error_message(), gsort_error_hint());
 *   }
 *
 * Options are words of the command line (gsort --help), ended by NULL: a new option of the program
 * needs no new function here. All functions are thread-safe, take ownership of nothing, and return
 * errors as a status; no C++ exception leaves them.
 *
 * The library does not change signals, their handlers, limits or the umask. Ignore SIGXFSZ if files
 * have a size limit, and SIGPIPE if the output is a pipe; otherwise they end the process. The
 * README.md lists the files that may be left if a signal ends the process.
 *
 * The guide is the README.md of the library. For C++: gsort/sort_file.hpp. */
#ifndef GSORT_H
#define GSORT_H

#include <stddef.h> /* NOLINT */
#include <stdint.h> /* NOLINT */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN: C, not C++ */

/* The program's exit statuses. */
typedef enum gsort_status {
  GSORT_DONE = 0,
  GSORT_REFUTED = 1, /* of gsort_check: not in order, or not the elements that --expect names */
  GSORT_ERROR = 2
} gsort_status;

/* The kinds of errors that a caller may want to handle. Later versions may add kinds. */
typedef enum gsort_error_kind {
  GSORT_ERROR_NONE = 0,
  GSORT_ERROR_USAGE = 1,     /* an argument or an option is wrong */
  GSORT_ERROR_INPUT = 2,     /* an input cannot be read, or does not hold whole elements */
  GSORT_ERROR_OUTPUT = 3,    /* the output cannot be written */
  GSORT_ERROR_TEMPORARY = 4, /* a temporary folder failed */
  GSORT_ERROR_RESOURCE = 5,  /* too little memory or disk */
  GSORT_ERROR_DEVICE = 6,    /* there is no GPU, or it failed */
  GSORT_ERROR_CORRUPT = 7    /* the verification failed */
} gsort_error_kind;

/* The results of a call. Set `size` to sizeof(gsort_report) before the call, which sets the members
 * within that size. Later versions add members at the end. After GSORT_ERROR, all others are 0. */
typedef struct gsort_report {
  size_t size;               /* of this struct, in bytes; set by the caller */
  uint64_t elements;         /* read */
  uint64_t bytes;            /* of these elements */
  uint64_t output_elements;  /* written; a check writes none */
  uint64_t runs;             /* sorted parts that were merged; 0: all fitted in memory */
  uint64_t spilled_bytes;    /* written to temporary folders */
  uint64_t disorder_element; /* of a check: the first element out of order, counted from 0 */
  double seconds;            /* of a sort or a merge */
  int verified;              /* 1: order and fingerprint of the output were verified */
  char fingerprint[52]; /* of the elements read, as --fingerprint prints it; "" if unknown. With
                           --count and sets, equal floats first become 0 or unsigned NaN */
} gsort_report;

/* Sorts `count` input files (at least 1; "-" is standard input) into the file `output`, which may
 * be one of them. The output appears whole or not at all, and no temporary file is left, except
 * those of --resume. After an error no output has appeared, unless the hint says that it is in
 * place (a failed sync of its folder). Nothing is written to standard error. Returns GSORT_DONE or
 * GSORT_ERROR.
 *
 * `options` are words of the command line without names of files, ended by NULL; NULL means none.
 * The environment is ignored: neither GSORT_OPTIONS nor GSORT_TYPE counts. Options that name files
 * (--output, --files0-from) or ask for something else than a sort (--check, --each, --fingerprint,
 * --explain, --help, --stats, --trace, --form, --take, --join) are errors. Sorts at the same time
 * do not share limits: give each its own -S and --parallel. A sort on GPUs may change the calling
 * thread's current CUDA device.
 *
 * The type comes from -t, from --key, from the suffix of the first input ("dump.u64"), or from the
 * header of a NumPy file; without any, the call is an error.
 *
 * `report` is NULL if it is not wanted. */
gsort_status gsort_sort(const char* const* inputs, size_t count, const char* output,
                        const char* const* options, gsort_report* report);

/* Merges inputs that are sorted already, as gsort -m does; otherwise like gsort_sort.
 * --intersect and --subtract apply. If an input is out of order, this is GSORT_ERROR, and its kind
 * GSORT_ERROR_INPUT. */
gsort_status gsort_merge(const char* const* inputs, size_t count, const char* output,
                         const char* const* options, gsort_report* report);

/* Checks the order of one file, as gsort -c does. Options and report are those of gsort_sort;
 * --expect applies. As there, --each is an error.
 * Returns GSORT_DONE if it is in order; GSORT_REFUTED if not, and gsort_error_message() says where;
 * or GSORT_ERROR. */
gsort_status gsort_check(const char* input, const char* const* options, gsort_report* report);

/* About the latest of the calls above in the calling thread. Texts are one line without its end,
 * "" if there is nothing to say, and valid until the thread's next such call. */
gsort_error_kind gsort_last_error(void);
const char* gsort_error_message(void); /* "opening dump.u64: No such file or directory" */
const char* gsort_error_hint(void);    /* what the user can do */
int gsort_error_number(void);          /* errno of the failed system call; 0: none */

/* The version of the library that is loaded, "1.0.0". */
const char* gsort_version(void);

/* NOLINTEND */

#ifdef __cplusplus
}
#endif

#endif
