# cmake --install: the programs with their manual pages and completions, the library with its headers and its CMake
# package, and the tools that repeat its measurements. A relocatable build has the libraries of the program beside it,
# no library of its own, and no tools.
set(pages ${PROJECT_BINARY_DIR}/generated)

# generated_page(PROGRAM FILE FORM): what PROGRAM --generate=FORM prints.
function(generated_page program file form)
  add_custom_command(OUTPUT ${pages}/${file}
    COMMAND ${program} --generate=${form} > ${pages}/${file} VERBATIM DEPENDS ${program})
endfunction()

# pages_of(PROGRAM COMPONENT COMPONENT_OF_ZSH): makes and installs its manual page and its completions.
function(pages_of program component zsh)
  generated_page(${program} ${program}.1 man)
  generated_page(${program} ${program}.bash bash)
  generated_page(${program} _${program} zsh)
  generated_page(${program} ${program}.fish fish)
  # Without a time stamp, so that equal sources make equal packages.
  add_custom_command(OUTPUT ${pages}/${program}.1.gz
    COMMAND gzip -9nkf ${pages}/${program}.1 DEPENDS ${pages}/${program}.1)
  add_custom_target(${program}_pages ALL
    DEPENDS ${pages}/${program}.1.gz ${pages}/${program}.bash ${pages}/_${program} ${pages}/${program}.fish)
  add_dependencies(gsort_installed ${program} ${program}_pages)
  install(FILES ${pages}/${program}.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  install(FILES ${pages}/${program}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME ${program} COMPONENT ${component})
  install(FILES ${pages}/${program}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT ${component})
  # zsh looks elsewhere for what packages of a distribution bring (GsortPackage.cmake) than for all else.
  install(FILES ${pages}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT ${zsh})
endfunction()

# Everything that must be built to install: cmake --install and cpack need no tests and no benchmarks.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
add_custom_target(gsort_installed)

install(TARGETS gsort RUNTIME COMPONENT program)
pages_of(gsort program zsh)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsort-binary
  COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsort-binary
  RENAME copyright COMPONENT program)

if(GSORT_RELOCATABLE)
  install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ TYPE BIN COMPONENT program
    FILES_MATCHING PATTERN "lib*.so*" PATTERN licences EXCLUDE)
  install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/licences
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsort-binary COMPONENT program)
  return()
endif()

add_custom_command(OUTPUT ${pages}/gsort-plot.1.gz DEPENDS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gsort-plot
  COMMAND ${PROJECT_SOURCE_DIR}/tools/cmake/manual_page.sh ${pages}/gsort-plot.1.gz ${PROJECT_VERSION}
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gsort-plot)
add_custom_target(gsort-plot_page ALL DEPENDS ${pages}/gsort-plot.1.gz)
add_dependencies(gsort_installed gsort_shared gsort-gen gsort-plot_page)
if(TARGET gsort-mpi)
  install(TARGETS gsort-mpi RUNTIME COMPONENT cluster)
  pages_of(gsort-mpi cluster cluster_zsh)
  install(FILES ${PROJECT_SOURCE_DIR}/src/cluster/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsort-mpi
    COMPONENT cluster)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsort-mpi
    RENAME copyright COMPONENT cluster)
endif()
install(TARGETS gsort-gen RUNTIME COMPONENT tools)
install(TARGETS gsort-bench RUNTIME COMPONENT tools OPTIONAL)  # minutes to build with CUDA
install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gsort-plot TYPE BIN COMPONENT tools)
install(FILES ${pages}/gsort-gen.1.gz ${pages}/gsort-plot.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
install(FILES ${pages}/gsort-bench.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsort-tools
  RENAME copyright COMPONENT tools)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gsort)
install(TARGETS gsort_shared EXPORT gsortTargets
  LIBRARY COMPONENT library
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gsort COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/src/library/gsort.h TYPE INCLUDE COMPONENT library)
# The library needs nothing of its users, so its targets are the whole package.
install(EXPORT gsortTargets FILE gsortConfig.cmake NAMESPACE gsort:: DESTINATION ${package} COMPONENT library)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gsortConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gsortConfigVersion.cmake DESTINATION ${package} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/src/library/README.md ${PROJECT_SOURCE_DIR}/src/library/DEVICE.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgsort-dev COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/library/examples
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgsort-dev COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgsort-dev
  RENAME copyright COMPONENT library)
