# Libraries from the distribution; tools/setup installs them.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS iostreams program_options)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(HWY_CONTRIB REQUIRED IMPORTED_TARGET libhwy-contrib)  # VQSort
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(nlohmann_json REQUIRED)

# Without MPI there is no gsort-mpi.
set(MPI_CXX_SKIP_MPICXX TRUE)  # its C interface alone
if(NOT GSORT_RELOCATABLE)  # an MPI is that of its site
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND)
  message(STATUS "MPI: ${MPI_CXX_LIBRARIES}; gsort-mpi is built")
else()
  message(STATUS "MPI: not found, or not wanted: gsort-mpi is left out (libopenmpi-dev, libmpich-dev)")
endif()

if(GSORT_RELOCATABLE)
  # A static Boost does not say which codecs it calls.
  find_package(BZip2 REQUIRED)
  set_property(TARGET Boost::iostreams APPEND PROPERTY INTERFACE_LINK_LIBRARIES
    ZLIB::ZLIB BZip2::BZip2 LibLZMA::LibLZMA PkgConfig::ZSTD)
endif()
