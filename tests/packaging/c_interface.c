/* The C interface that 1.x promises (STABILITY.md), for packaging.exports. It is compiled with the installed gsort.h, so that a
 * changed signature, constant or member is an error, and linked with the installed library. A later version may add to the end
 * of each list; nothing else here changes before 2.0. */
#include <gsort.h>

/* A declaration that differs from that of gsort.h is an error. */
gsort_status gsort_sort(const char* const* inputs, size_t count, const char* output, const char* const* options,
                        gsort_report* report);
gsort_status gsort_merge(const char* const* inputs, size_t count, const char* output, const char* const* options,
                         gsort_report* report);
gsort_status gsort_check(const char* input, const char* const* options, gsort_report* report);
gsort_error_kind gsort_last_error(void);
const char* gsort_error_message(void);
const char* gsort_error_hint(void);
int gsort_error_number(void);
const char* gsort_version(void);

#define HOLDS(name, condition) typedef char name[(condition) ? 1 : -1]
#define MEMBER(name, type, offset) \
  HOLDS(name##_is_there, offsetof(gsort_report, name) == (offset) && sizeof(((gsort_report*)0)->name) == sizeof(type)); \
  type* pointer_to_##name(gsort_report* report); \
  type* pointer_to_##name(gsort_report* report) { return &report->name; }

HOLDS(statuses, GSORT_DONE == 0 && GSORT_REFUTED == 1 && GSORT_ERROR == 2 && sizeof(gsort_status) == 4);
HOLDS(kinds, GSORT_ERROR_NONE == 0 && GSORT_ERROR_USAGE == 1 && GSORT_ERROR_INPUT == 2 && GSORT_ERROR_OUTPUT == 3 &&
                 GSORT_ERROR_TEMPORARY == 4 && GSORT_ERROR_RESOURCE == 5 && GSORT_ERROR_DEVICE == 6 &&
                 GSORT_ERROR_CORRUPT == 7 && sizeof(gsort_error_kind) == 4);
typedef char fingerprint_text[52];
MEMBER(size, size_t, 0)
MEMBER(elements, uint64_t, 8)
MEMBER(bytes, uint64_t, 16)
MEMBER(output_elements, uint64_t, 24)
MEMBER(runs, uint64_t, 32)
MEMBER(spilled_bytes, uint64_t, 40)
MEMBER(disorder_element, uint64_t, 48)
MEMBER(seconds, double, 56)
MEMBER(verified, int, 64)
MEMBER(fingerprint, fingerprint_text, 68)
HOLDS(the_report_does_not_shrink, sizeof(gsort_report) >= 120);

/* Fails if a function does not answer as its declaration says. */
int main(void) {
  gsort_report report;
  report.size = sizeof(report);
  return gsort_sort(NULL, 0, NULL, NULL, &report) == GSORT_ERROR && gsort_last_error() == GSORT_ERROR_USAGE &&
                 gsort_error_message()[0] != 0 && gsort_error_hint() != NULL && gsort_error_number() == 0 &&
                 gsort_merge(NULL, 0, NULL, NULL, NULL) == GSORT_ERROR && gsort_check(NULL, NULL, NULL) == GSORT_ERROR &&
                 gsort_version()[0] != 0
             ? 0
             : 1;
}
