# Finds a CUDA compiler: the one on the PATH, a toolkit in its usual place, or the one that tools/setup put
# into the build folder. Sets GSORT_HAS_CUDA. Without one the build has no CUDA engine and says so.
set(GSORT_HAS_CUDA FALSE)

# The architectures of packages, oldest first; later cards compile the code of the last one when a program starts.
set(GSORT_ALL_ARCHITECTURES 80 86 89 90 100 103 120)

# gsort_cuda_architectures(RESULT): what GSORT_CUDA_ARCHITECTURES asks for, as CMake's list.
function(gsort_cuda_architectures result)
  set(list ${GSORT_CUDA_ARCHITECTURES})
  if(list STREQUAL "all")
    list(TRANSFORM GSORT_ALL_ARCHITECTURES APPEND -real OUTPUT_VARIABLE list)
    list(GET GSORT_ALL_ARCHITECTURES -1 last)
    list(APPEND list ${last}-virtual)
  elseif(list STREQUAL "native")
    if(NOT CMAKE_CROSSCOMPILING)
      execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE status)
    endif()
    set(list 80)  # its machine code, and code that drivers of newer cards compile when a program starts
    if(status EQUAL 0 AND capabilities MATCHES "^[0-9]+\\.[0-9]+")
      string(REGEX MATCHALL "[0-9]+\\.[0-9]+" list "${capabilities}")
      list(REMOVE_DUPLICATES list)
      list(TRANSFORM list REPLACE "\\." "")
      list(TRANSFORM list APPEND -real)
    endif()
  endif()
  set(${result} ${list} PARENT_SCOPE)
endfunction()

# gsort_offers_ptx_of_fast_doubles(RESULT ARCHITECTURE...): whether drivers of other cards, whose doubles may be slow,
# may compile code that was made for an architecture whose doubles are fast (gpu/records/pair_word.hpp).
function(gsort_offers_ptx_of_fast_doubles result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(architecture IN LISTS ARGN)
    if(architecture MATCHES "^(80|90|100)(-virtual)?$")
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

if(NOT GSORT_CUDA STREQUAL "OFF")
  if(CMAKE_CROSSCOMPILING)  # other toolkits have the runtime library of this machine
    find_program(CMAKE_CUDA_COMPILER nvcc PATHS ${PROJECT_SOURCE_DIR}/build/arm64-cuda/bin NO_DEFAULT_PATH)
  else()
    find_program(CMAKE_CUDA_COMPILER nvcc
      HINTS ${PROJECT_SOURCE_DIR}/build/cuda/bin /usr/local/cuda/bin)
  endif()
  if(CMAKE_CUDA_COMPILER)
    gsort_cuda_architectures(CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    enable_language(CUDA)
    # CMake 3.25 does not know nvcc's flag for C++20, which targets inherit from CMAKE_CXX_STANDARD.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    # CMake 3.25.1, Debian 12's, would mark nvToolsExt as deprecated for projects that ask for 3.25, and
    # fails where a toolkit has none, as CUDA 13.
    set(asked_version ${CMAKE_MINIMUM_REQUIRED_VERSION})
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
    find_package(CUDAToolkit 12.5 REQUIRED)
    set(CMAKE_MINIMUM_REQUIRED_VERSION ${asked_version})
    set(GSORT_HAS_CUDA TRUE)
  elseif(GSORT_CUDA STREQUAL "ON" AND CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "GSORT_CUDA=ON, but build/arm64-cuda has no nvcc; tools/setup --preset arm64 --cuda brings one from PyPI, "
      "with NVIDIA's runtime library for ${CMAKE_SYSTEM_PROCESSOR} (nvidia-cuda-runtime)")
  elseif(GSORT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GSORT_CUDA=ON, but no nvcc was found; tools/quickstart --cuda brings one")
  endif()
endif()
if(GSORT_HAS_CUDA)
  message(STATUS "CUDA engine: yes (${CMAKE_CUDA_COMPILER}, architectures ${CMAKE_CUDA_ARCHITECTURES})")
else()
  message(STATUS "CUDA engine: no (no CUDA compiler, or GSORT_CUDA=OFF)")
endif()
