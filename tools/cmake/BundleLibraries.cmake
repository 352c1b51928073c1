# Copies the shared libraries of a binary beside it, all but those of the C library, which belong to the kernel
# and the loader of a machine; and, into the folder licences, what Debian's packages of them say about copying:
#   cmake -DBINARY=... -P BundleLibraries.cmake
# With -DMODULE=ON the binary is loaded into a process that has, or brings, the libraries of the compiler; and
# -DFOLDER=... is where to copy to.
if(MODULE)
  set(kind MODULES)
  set(of_the_compiler "^lib(stdc\\+\\+|gcc_s)\\.so")
else()
  set(kind EXECUTABLES)
  set(of_the_compiler "^$")
  get_filename_component(FOLDER ${BINARY} DIRECTORY)
endif()
set(folder ${FOLDER})
file(MAKE_DIRECTORY ${folder}/licences)
file(GET_RUNTIME_DEPENDENCIES ${kind} ${BINARY}
  RESOLVED_DEPENDENCIES_VAR libraries
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux" "^linux-vdso" ${of_the_compiler}
  # Found twice: in the system, and beside the binary, where an earlier link put it.
  CONFLICTING_DEPENDENCIES_PREFIX bundled_already)
foreach(library IN LISTS libraries)
  file(COPY ${library} DESTINATION ${folder} FOLLOW_SYMLINK_CHAIN)
endforeach()
foreach(library IN LISTS libraries bundled_already_FILENAMES)
  get_filename_component(name ${library} NAME)
  execute_process(COMMAND dpkg-query --search "*/${name}" OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX MATCH "^[^:,]+" package "${owner}")
  if(package)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${folder}/licences/${package} ONLY_IF_DIFFERENT)
  endif()
endforeach()
