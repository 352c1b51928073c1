#include "base/current_error.hpp"

#include <cerrno>
#include <exception>
#include <new>
#include <system_error>

namespace gsort {

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error::from_errno(ErrorKind::kResource, "reserving memory", ENOMEM)
        .hint("raise the limit with 'ulimit -v', or give less memory with -S");
  } catch (const std::system_error& failure) {
    return Error(ErrorKind::kResource, "asking the system", failure.code().message())
        .hint("check its limits with 'ulimit -a'");
  } catch (const std::exception& failure) {
    return Error(ErrorKind::kResource, "using a library", failure.what())
        .hint("check the system's limits with 'ulimit -a'");
  }
}

}  // namespace gsort
