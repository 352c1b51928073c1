# Headers that most sources include. Reading them takes longer than the rest of a source, so GCC reads them once for the libraries
# and once for the suites of tests. Not with ccache, which caches nothing that is compiled with them. Builds with sanitizers or
# clang do not precompile them: there, a source that does not include all headers it needs fails.
set(GSORT_PRECOMPILES FALSE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT GSORT_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(GSORT_PRECOMPILES TRUE)
  # GCC does not use headers that were read with other definitions.
  get_target_property(definitions fmt::fmt INTERFACE_COMPILE_DEFINITIONS)
  if(definitions)
    target_compile_definitions(gsort_settings INTERFACE ${definitions})
  endif()
endif()

set(GSORT_HEADERS <algorithm> <array> <atomic> <bit> <charconv> <chrono> <condition_variable> <cstring> <functional> <limits>
    <map> <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <thread> <utility> <vector> <fmt/format.h>)

# A source without content, for targets that only have headers.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/empty.cpp CONTENT "")

# gsort_precompile(TARGET HEADER...): precompiles the headers for a target.
function(gsort_precompile target)
  if(GSORT_PRECOMPILES)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# gsort_reuse_headers(TARGET FROM): uses the headers of FROM in a target that has the same compiler options.
function(gsort_reuse_headers target from)
  if(GSORT_PRECOMPILES)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
