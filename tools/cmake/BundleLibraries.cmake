# Copies the shared libraries that are not part of every Linux beside a binary:
#   cmake -DBINARY=... -P BundleLibraries.cmake
get_filename_component(folder ${BINARY} DIRECTORY)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${BINARY}
  RESOLVED_DEPENDENCIES_VAR libraries
  PRE_INCLUDE_REGEXES "^libtbb" "^libhwy"
  PRE_EXCLUDE_REGEXES ".*"
  # Found twice: in the system, and beside the binary, where an earlier link put it.
  CONFLICTING_DEPENDENCIES_PREFIX bundled_already)
foreach(library IN LISTS libraries)
  file(COPY ${library} DESTINATION ${folder} FOLLOW_SYMLINK_CHAIN)
endforeach()
