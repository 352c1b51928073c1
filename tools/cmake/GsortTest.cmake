# Suites of tests: one binary a folder, one line a file. Names of test files are checked by tools/check_layers:
# a file *_test.cpp or *_test.cu that no suite lists fails the run.
find_package(GTest REQUIRED)
include(GoogleTest)

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

# gsort_test_suite(NAME SOURCES file... DEPENDS target... [LABEL large|gpu] [ENVIRONMENT NAME=VALUE]
#                  [WHOLE | ON_DEMAND])
# Every TEST becomes a ctest case. With WHOLE (suites of thousands of short tests) and in an emulator, the binary is one case.
# With ON_DEMAND, the suite has the label `large` and is built only before it runs.
# A suite without files is no suite.
function(gsort_test_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "WHOLE;ON_DEMAND" "LABEL;ENVIRONMENT" "SOURCES;DEPENDS")
  if(NOT ARG_SOURCES)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
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
  elseif(ARG_WHOLE OR CMAKE_CROSSCOMPILING)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 ${GSORT_TEST_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABEL}" SKIP_RETURN_CODE 77)
  else()
    set(properties TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
    foreach(property IN ITEMS LABEL ENVIRONMENT)  # an empty value would take the next name for its own
      if(ARG_${property})
        string(REPLACE LABEL LABELS ctest_name ${property})
        list(APPEND properties ${ctest_name} ${ARG_${property}})
      endif()
    endforeach()
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  endif()
endfunction()
