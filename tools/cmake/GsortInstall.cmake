# cmake --install: the program with its manual page and completions, the library with its headers and its CMake
# package, and the tools that repeat its measurements. A relocatable build has the libraries of the program beside it,
# no library of its own, and no tools.
set(pages ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${pages})

# generated_page(FILE FORM): what gsort --generate=FORM prints.
function(generated_page file form)
  add_custom_command(OUTPUT ${pages}/${file}
    COMMAND gsort --generate=${form} > ${pages}/${file} VERBATIM DEPENDS gsort)
endfunction()
generated_page(gsort.1 man)
generated_page(gsort.bash bash)
generated_page(_gsort zsh)
generated_page(gsort.fish fish)
# Without a time stamp, so that equal sources make equal packages.
add_custom_command(OUTPUT ${pages}/gsort.1.gz
  COMMAND gzip -9nkf ${pages}/gsort.1 DEPENDS ${pages}/gsort.1)
add_custom_target(gsort_pages ALL
  DEPENDS ${pages}/gsort.1.gz ${pages}/gsort.bash ${pages}/_gsort ${pages}/gsort.fish)

# Everything that must be built to install: cmake --install and cpack need no tests and no benchmarks.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
add_custom_target(gsort_installed)
add_dependencies(gsort_installed gsort gsort_pages)

install(TARGETS gsort RUNTIME COMPONENT program)
install(FILES ${pages}/gsort.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${pages}/gsort.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME gsort COMPONENT program)
install(FILES ${pages}/gsort.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT program)
# zsh looks elsewhere for what packages of a distribution bring (GsortPackage.cmake) than for all else.
install(FILES ${pages}/_gsort DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT zsh)
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

add_dependencies(gsort_installed gsort_shared gsort-gen)
install(TARGETS gsort-gen RUNTIME COMPONENT tools)
install(TARGETS gsort-bench RUNTIME COMPONENT tools OPTIONAL)  # takes minutes to build with CUDA: if it is there
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
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgsort-dev
  RENAME copyright COMPONENT library)
