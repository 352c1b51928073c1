# cmake --install: the programs with their manual pages and completions, the library with its headers and its CMake
# package, and the tools that repeat its measurements. A relocatable build has the libraries of the program beside it,
# no library of its own, and no tools.
set(pages ${PROJECT_BINARY_DIR}/generated)
# Whatever the umask.
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})

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

# documents_of(PACKAGE COMPONENT [PAGE]): installs its licence and its Debian changelog, and a page with all files that it links, at
# their places below the package's folder of documents.
function(documents_of package component)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${component})
  if(NOT GSORT_RELOCATABLE)
    install(FILES ${pages}/changelog.Debian.gz DESTINATION ${folder} COMPONENT ${component}_debian EXCLUDE_FROM_ALL)
  endif()
  set(found ${ARGN})
  set(unread ${ARGN})
  while(unread)
    list(POP_FRONT unread page)
    cmake_path(GET page PARENT_PATH beside)
    set(place ${PROJECT_SOURCE_DIR}/${page})
    if(IS_DIRECTORY ${place})
      install(DIRECTORY ${place} DESTINATION ${folder}/${beside} COMPONENT ${component})
    elseif(EXISTS ${place})  # Python's source archive has no pages
      install(FILES ${place} DESTINATION ${folder}/${beside} COMPONENT ${component})
    endif()
    if(EXISTS ${place} AND page MATCHES "[.]md$")
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${place})
      file(READ ${place} text)
      string(REPLACE "](" "\n>" text "${text}")
      string(REGEX MATCHALL "\n>[^):# \n]+(#[^)]*)?\\)" links "${text}")
      foreach(link IN LISTS links)
        string(REGEX REPLACE "\n>([^#]*)(#.*)?\\)" "${beside}/\\1" link ${link})
        cmake_path(NORMAL_PATH link)
        string(REGEX REPLACE "^/" "" link ${link})
        if(NOT link IN_LIST found)
          list(APPEND found ${link})
          list(APPEND unread ${link})
        endif()
      endforeach()
    endif()
  endwhile()
endfunction()

# Everything that must be built to install: cmake --install and cpack need no tests and no benchmarks.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
add_custom_target(gsort_installed)

install(TARGETS gsort RUNTIME COMPONENT program)
pages_of(gsort program zsh)
documents_of(gsort-binary program README.md)

if(GSORT_RELOCATABLE)
  install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ TYPE BIN COMPONENT program
    FILES_MATCHING PATTERN "lib*.so*" PATTERN licences EXCLUDE)
  install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/licences
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsort-binary COMPONENT program)
  return()
endif()

add_custom_command(OUTPUT ${pages}/gsort-plot.1.gz DEPENDS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gsort-plot
  COMMAND ${PROJECT_SOURCE_DIR}/tools/cmake/manual_page.sh ${pages}/gsort-plot.1.gz ${PROJECT_VERSION} ${GSORT_PAGES_DATE}
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gsort-plot)
add_custom_target(gsort-plot_page ALL DEPENDS ${pages}/gsort-plot.1.gz)
add_dependencies(gsort_installed gsort_shared gsort-gen gsort-plot_page)
if(TARGET gsort-mpi)
  install(TARGETS gsort-mpi RUNTIME COMPONENT cluster)
  pages_of(gsort-mpi cluster cluster_zsh)
  documents_of(gsort-mpi cluster src/cluster/README.md)
endif()
install(TARGETS gsort-gen RUNTIME COMPONENT tools)
install(TARGETS gsort-bench RUNTIME COMPONENT tools OPTIONAL)  # minutes to build with CUDA
install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gsort-plot TYPE BIN COMPONENT tools)
install(FILES ${pages}/gsort-gen.1.gz ${pages}/gsort-plot.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
install(FILES ${pages}/gsort-bench.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools OPTIONAL)
documents_of(gsort-tools tools)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gsort)
install(TARGETS gsort_shared EXPORT gsortTargets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT library
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gsort COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/src/library/gsort.h TYPE INCLUDE COMPONENT library)
# The library needs nothing of its users, so its targets are the whole package.
install(EXPORT gsortTargets FILE gsortConfig.cmake NAMESPACE gsort:: DESTINATION ${package} COMPONENT library)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gsortConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)  # STABILITY.md
string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/gsort.pc.in ${pages}/gsort.pc @ONLY)
install(FILES ${pages}/gsort.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/gsortConfigVersion.cmake DESTINATION ${package} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/src/library/README.md ${PROJECT_SOURCE_DIR}/src/library/DEVICE.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgsort-dev COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/library/examples
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgsort-dev COMPONENT library)
documents_of(libgsort-dev library)
get_target_property(soversion gsort_shared SOVERSION)
documents_of(libgsort${soversion} runtime)
