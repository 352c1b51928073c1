# cpack: Debian packages from the usual build (the program, the library, the tools, and gsort-mpi where it was built), a tar
# from a relocatable one.
#
# The packages are called gsort-binary, libgsort-dev, gsort-tools and gsort-mpi: Debian has a package gsort, a tool for genomic files,
# whose program has the same name.
set(CPACK_PACKAGE_NAME gsort)
set(CPACK_PACKAGE_VENDOR gsort)
set(CPACK_PACKAGE_CONTACT "The gsort maintainers <gsort@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program zsh)

if(GSORT_RELOCATABLE)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_FILE_NAME gsort-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  include(CPack)
  return()
endif()

install(FILES ${PROJECT_BINARY_DIR}/generated/_gsort DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
  COMPONENT debian EXCLUDE_FROM_ALL)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program debian library tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

if(TARGET gsort-mpi)
  install(FILES ${PROJECT_BINARY_DIR}/generated/_gsort-mpi DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
    COMPONENT cluster_debian EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL cluster cluster_debian)
  # The library of MPI is a dependency that CPack finds; its launcher is not.
  if(MPI_CXX_LIBRARIES MATCHES mpich)
    set(CPACK_DEBIAN_CLUSTER_PACKAGE_RECOMMENDS mpich)
  else()
    set(CPACK_DEBIAN_CLUSTER_PACKAGE_RECOMMENDS openmpi-bin)
  endif()
endif()

set(CPACK_COMPONENT_CLUSTER_GROUP cluster)
set(CPACK_COMPONENT_CLUSTER_DEBIAN_GROUP cluster)
set(CPACK_DEBIAN_CLUSTER_PACKAGE_NAME gsort-mpi)
set(CPACK_COMPONENT_PROGRAM_GROUP program)
set(CPACK_COMPONENT_DEBIAN_GROUP program)
set(CPACK_COMPONENT_LIBRARY_GROUP library)
set(CPACK_COMPONENT_TOOLS_GROUP tools)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME gsort-binary)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONFLICTS gsort)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libgsort-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME gsort-tools)
# CPack would put the project's description in front of these.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(where "on all cores, without the engine for NVIDIA GPUs")
if(GSORT_HAS_CUDA)
  set(where "on an NVIDIA GPU where there is one and on all cores otherwise")
endif()
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "sorts files of binary numbers larger than memory
Integers and floating-point numbers of 8 to 128 bits, and fixed-size records, ${where}.
Every result is proved before it appears.")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "sorts and merges binary numbers in files and in memory
The library of gsort for C++ and C, its headers, and its CMake package.")
set(CPACK_DEBIAN_CLUSTER_DESCRIPTION "sorts files of binary numbers on several machines
One process on each host, by MPI. The output has the bytes that gsort makes.")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "makes inputs for gsort and measures it
gsort-gen and gsort-bench, which repeat the measurements of its documents.")
include(CPack)
