# The common settings of all our targets: the language, the warnings, the sanitizers, the RPATH.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(gsort_settings INTERFACE)
target_include_directories(gsort_settings INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_definitions(gsort_settings INTERFACE _FILE_OFFSET_BITS=64)

set(GSORT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Wcast-align -Wnull-dereference -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND GSORT_WARNINGS -Wno-null-dereference)  # false positives inside libstdc++ 12 at -O3
endif()
if(GSORT_WERROR)
  list(APPEND GSORT_WARNINGS -Werror)
endif()
target_compile_options(gsort_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${GSORT_WARNINGS}>")

# Findings end the program. Sums that wrap are no error everywhere: what may is listed where the program is run, in
# may_wrap.txt, which a program that cannot go on would not read.
if(GSORT_SANITIZE)
  set(GSORT_SANITIZE_RECOVER -fno-sanitize-recover=all)
  if(GSORT_SANITIZE MATCHES unsigned-integer-overflow)
    set(GSORT_SANITIZE_RECOVER -fsanitize-recover=all)
  endif()
  # The check of virtual tables opens a pipe, and fails in tests that leave no descriptor for it.
  target_compile_options(gsort_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GSORT_SANITIZE}>"
    "$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr;-fno-omit-frame-pointer;${GSORT_SANITIZE_RECOVER}>")
  target_link_options(gsort_settings INTERFACE -fsanitize=${GSORT_SANITIZE})
endif()

# Everything is instrumented; only the targets of tests/fuzz have the fuzzer's main.
if(GSORT_FUZZ)
  target_compile_options(gsort_settings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(gsort_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(GSORT_RELOCATABLE)
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
  set(CMAKE_BUILD_RPATH "$ORIGIN")
  set(CMAKE_INSTALL_RPATH "$ORIGIN")
  set(Boost_USE_STATIC_LIBS ON)
  # RPATH rather than RUNPATH: the libraries beside the binary find each other by it, too.
  target_link_options(gsort_settings INTERFACE -Wl,--disable-new-dtags)
endif()

# gsort_tool_page(NAME): makes the manual page of a tool, when it is built.
function(gsort_tool_page name)
  add_custom_command(TARGET ${name} POST_BUILD COMMAND ${PROJECT_SOURCE_DIR}/tools/cmake/manual_page.sh
    ${PROJECT_BINARY_DIR}/generated/${name}.1.gz ${PROJECT_VERSION} ${GSORT_PAGES_DATE} ${CMAKE_CROSSCOMPILING_EMULATOR}
      $<TARGET_FILE:${name}>)
endfunction()

# gsort_library(NAME SOURCES ... DEPENDS ... [UNITED]): a static library of one folder. DEPENDS are public. If headers are
# precompiled, eight SOURCES of a library that is UNITED are compiled as one, in half the time.
function(gsort_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "UNITED" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC gsort_settings ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  gsort_reuse_headers(${name} gsort_headers)
  if(ARG_UNITED AND GSORT_PRECOMPILES)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
  set_property(GLOBAL APPEND PROPERTY GSORT_LIBRARIES ${name})
endfunction()

# gsort_program(NAME SOURCES ... DEPENDS ...): an executable; a relocatable build puts its libraries beside it.
function(gsort_program name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;DEPENDS")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE gsort_settings ${ARG_DEPENDS})
  if(GSORT_RELOCATABLE)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -DBINARY=$<TARGET_FILE:${name}>
        -P ${PROJECT_SOURCE_DIR}/tools/cmake/BundleLibraries.cmake)
  endif()
endfunction()
