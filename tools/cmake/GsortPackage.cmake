# cpack: Debian packages from the usual build (the program, the library, the tools, and gsort-mpi where it was built), a tar
# from a relocatable one.
#
# The packages are called gsort-binary, libgsortN, libgsort-dev, gsort-tools and gsort-mpi: Debian has a package gsort, a tool
# for genomic files, whose program has the same name.
set(CPACK_PACKAGE_NAME gsort)
set(CPACK_PACKAGE_VENDOR gsort)
set(CPACK_PACKAGE_CONTACT ${GSORT_MAINTAINER})
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

# The date is that of SOURCE_DATE_EPOCH, if it is set.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${pages}/changelog.Debian "gsort (${version}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}. CHANGELOG.md in gsort-binary has its changes.

 -- ${GSORT_MAINTAINER}  ${date}
")
execute_process(COMMAND gzip -9nkf ${pages}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${pages}/triggers "activate-noawait ldconfig\n")
install(FILES ${pages}/_gsort DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
  COMPONENT program_debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${GSORT_HOMEPAGE})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# debian_package(COMPONENT NAME): a package of the component and of what only Debian's packages have of it.
macro(debian_package component name)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component} ${component}_debian)
  set(CPACK_COMPONENT_${upper}_GROUP ${component})
  set(CPACK_COMPONENT_${upper}_DEBIAN_GROUP ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
endmacro()
set(CPACK_COMPONENTS_ALL)
debian_package(program gsort-binary)
debian_package(runtime libgsort${soversion})
debian_package(library libgsort-dev)
debian_package(tools gsort-tools)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONFLICTS gsort)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${pages}/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libgsort${soversion} (= ${version})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS python3)
if(TARGET gsort-mpi)
  install(FILES ${pages}/_gsort-mpi DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
    COMPONENT cluster_debian EXCLUDE_FROM_ALL)
  debian_package(cluster gsort-mpi)
  # The library of MPI is a dependency that CPack finds; its launcher is not.
  if(MPI_CXX_LIBRARIES MATCHES mpich)
    set(CPACK_DEBIAN_CLUSTER_PACKAGE_RECOMMENDS mpich)
  else()
    set(CPACK_DEBIAN_CLUSTER_PACKAGE_RECOMMENDS openmpi-bin)
  endif()
endif()
# CPack would put the project's description in front of these.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(where "on all cores, without the engine for NVIDIA GPUs")
if(GSORT_HAS_CUDA)
  set(where "on an NVIDIA GPU where there is one and on all cores otherwise")
endif()
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "sorts files of binary numbers larger than memory
Integers and floating-point numbers of 8 to 128 bits, and fixed-size records,
${where}.
Every result is proved before it appears.")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "sorts and merges binary numbers in files and in memory
The library of gsort for C++ and C.")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "sorts and merges binary numbers, for development
The headers of gsort's library for C++ and C, and its CMake package.")
set(CPACK_DEBIAN_CLUSTER_DESCRIPTION "sorts files of binary numbers on several machines
One process on each host, by MPI. The output has the bytes that gsort makes.")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "makes inputs for gsort, measures it and draws measurements
gsort-gen, gsort-bench and gsort-plot, which repeat the measurements of its
documents and show what each thread of a sort did.")
include(CPack)
