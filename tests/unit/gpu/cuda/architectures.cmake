# Which lists of architectures have PTX that cards with slow doubles may come to run.
set(GSORT_CUDA OFF)
include(${CMAKE_CURRENT_LIST_DIR}/../../../../tools/cmake/GsortCuda.cmake)

function(expect expected)
  set(GSORT_CUDA_ARCHITECTURES ${ARGN})
  gsort_cuda_architectures(list)
  gsort_offers_ptx_of_fast_doubles(found ${list})
  if(NOT found STREQUAL expected)
    message(SEND_ERROR "${ARGN} (${list}): ${found}, not ${expected}")
  endif()
endfunction()

expect(FALSE all)
expect(FALSE 90-real)
expect(FALSE 80-real 86-real 120-virtual)
expect(FALSE 86 120)
expect(TRUE 80)
expect(TRUE 86-real 90-virtual)
expect(TRUE 100-real 100-virtual)
set(ENV{PATH} "")  # no nvidia-smi, as on a machine without a card
expect(TRUE native)
