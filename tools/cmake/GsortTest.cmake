# Suites of tests: one binary a folder, one line a file. Names of test files are checked by tools/check_layers:
# a file *_test.cpp or *_test.cu that no suite lists fails the run.
find_package(GTest REQUIRED)

function(gsort_compile_as_test target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")  # compiling them takes longer than running them
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
  endif()
endfunction()

# A suite without tests, whose precompiled headers all suites use.
add_executable(gsort_test_headers ${PROJECT_BINARY_DIR}/empty.cpp)
target_link_libraries(gsort_test_headers PRIVATE gsort_settings GTest::gtest_main)
gsort_compile_as_test(gsort_test_headers)
gsort_precompile(gsort_test_headers ${GSORT_HEADERS} <gtest/gtest.h> <random>)
set_target_properties(gsort_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# Without a GPU, suites that need one are not built, unless GSORT_TEST_GPU asks for them: their tests would only skip.
set(GSORT_BUILDS_GPU_SUITES FALSE)
if(DEFINED ENV{GSORT_TEST_GPU})
  if(NOT "$ENV{GSORT_TEST_GPU}" STREQUAL "0")
    set(GSORT_BUILDS_GPU_SUITES TRUE)
  endif()
elseif(EXISTS /dev/nvidiactl)
  set(GSORT_BUILDS_GPU_SUITES TRUE)
endif()

# gsort_test_suite(NAME SOURCES file... DEPENDS target... [ALONE file...] [LABEL large|gpu] [ENVIRONMENT NAME=VALUE]
#                  [SHARDS number] [EVERY_CASE filter] [ON_DEMAND])
# The tests are divided among SHARDS ctest cases (default: 1), NAME.1 and so on, each a process; tools/summary.py counts and names
# the tests. In an emulator, the binary is one case.
# If headers are precompiled, eight of the SOURCES are compiled as one. ALONE: files that are compiled alone, because they give a
# name another meaning than a file of SOURCES does, take long to compile, or contain functions that are replaced.
# EVERY_CASE: NAME.every_case, with the label `large`, runs the tests of this filter with all of their cases; by default, they
# choose some (tests/support/some_of.hpp).
# With ON_DEMAND, the suite has the label `large` and is built only before it runs.
# A suite without files is no suite.
function(gsort_test_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "ON_DEMAND" "LABEL;ENVIRONMENT;SHARDS;EVERY_CASE" "SOURCES;ALONE;DEPENDS")
  if(NOT ARG_SOURCES AND NOT ARG_ALONE)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_ALONE})
  if(GSORT_PRECOMPILES)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(name MATCHES "^gpu_")  # where nothing ran, nothing has passed
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/gpu_main.cpp)
    target_link_libraries(${name} PRIVATE gsort_settings ${ARG_DEPENDS} GTest::gtest)
  else()
    target_link_libraries(${name} PRIVATE gsort_settings ${ARG_DEPENDS} GTest::gtest_main)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  gsort_compile_as_test(${name})
  gsort_reuse_headers(${name} gsort_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set(timeout 600)
  if(ARG_LABEL STREQUAL "large" OR GSORT_SANITIZE OR CMAKE_CROSSCOMPILING)  # some take more than ten minutes
    set(timeout 3600)
  endif()
  if(ARG_ON_DEMAND)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_test(NAME ${name}.build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${name})
    set_tests_properties(${name}.build PROPERTIES TIMEOUT 3600 LABELS large FIXTURES_SETUP ${name} RESOURCE_LOCK build)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E env $<TARGET_FILE:${name}> --gtest_brief=1)  # not there when ctest begins
    set_tests_properties(${name} PROPERTIES TIMEOUT 3600 LABELS "${ARG_LABEL};large" SKIP_RETURN_CODE 77 FIXTURES_REQUIRED ${name})
  elseif(name MATCHES "^gpu_" AND NOT GSORT_BUILDS_GPU_SUITES)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_test(NAME ${name} COMMAND sh -c "echo 'not built: there is no GPU here, or GSORT_TEST_GPU is 0'; exit 77")
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" SKIP_RETURN_CODE 77)
  elseif(CMAKE_CROSSCOMPILING)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 ${GSORT_TEST_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABEL}" SKIP_RETURN_CODE 77)
  else()
    if(NOT ARG_SHARDS)
      set(ARG_SHARDS 1)
    endif()
    foreach(shard RANGE 1 ${ARG_SHARDS})
      math(EXPR index "${shard} - 1")
      set(environment ${ARG_ENVIRONMENT} GTEST_TOTAL_SHARDS=${ARG_SHARDS} GTEST_SHARD_INDEX=${index})
      add_test(NAME ${name}.${shard} COMMAND ${name})
      set_tests_properties(${name}.${shard} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABEL}" SKIP_RETURN_CODE 77 COST ${ARG_SHARDS}
        ENVIRONMENT "${environment}")
    endforeach()
    if(ARG_EVERY_CASE)
      add_test(NAME ${name}.every_case COMMAND ${name} --gtest_brief=1 --gtest_filter=${ARG_EVERY_CASE})
      set_tests_properties(${name}.every_case PROPERTIES TIMEOUT 7200 LABELS "long;large" ENVIRONMENT GSORT_EVERY_CASE=1)
    endif()
  endif()
endfunction()
