# Copies the shared libraries of a binary beside it, all but those of the C library, which belong to the kernel
# and the loader of a machine:
#   cmake -DBINARY=... -P BundleLibraries.cmake
get_filename_component(folder ${BINARY} DIRECTORY)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${BINARY}
  RESOLVED_DEPENDENCIES_VAR libraries
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux" "^linux-vdso"
  # Found twice: in the system, and beside the binary, where an earlier link put it.
  CONFLICTING_DEPENDENCIES_PREFIX bundled_already)
foreach(library IN LISTS libraries)
  file(COPY ${library} DESTINATION ${folder} FOLLOW_SYMLINK_CHAIN)
endforeach()
