// Standard input, output and error that came in closed. The kernel gives the lowest free number to
// the next file that is opened: a sorted output as number 2 would have messages written over it.
#pragma once

namespace gsort::io {

// Makes numbers 0, 1 and 2 that are closed stand for /dev/null, opened so that using them fails as
// if they were closed (EBADF). To be called before anything is opened.
// Throws: Error(kResource) when /dev/null cannot be opened.
void occupy_standard_descriptors();

}  // namespace gsort::io
