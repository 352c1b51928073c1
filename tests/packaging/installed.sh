#!/usr/bin/env bash
# Tries an installed gsort, also in a bare Debian: runs the examples of its README.md as they stand, and looks at what its
# packages hold. Where there are a compiler and mpirun, builds the guide's example in C, and sorts with gsort-mpi.
#
# Usage: installed.sh USR, in an empty folder; USR has bin and share
set -euo pipefail
usr=$(cd "$1" && pwd)
documents=$usr/share/doc
export PATH=$usr/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() { printf 'installed.sh: %s\n' "$*" >&2; exit 1; }
producer() { head -c 80000 /dev/urandom; }  # of the examples

# The commands of README.md's first block and of its section Examples.
examples() {
  # shellcheck disable=SC2016  # not variables
  sed -n '/^## Install/,/^## Examples/d; /^## Speed/q; p' "$documents/gsort-binary/README.md" | sed -n '/^```$/,/^```$/p' |
    grep -v '^```'
}

try_examples() {
  local name line
  for name in input.bin dump.u64 big.i64 big.u64 ids.u64 scores.f32 keys.f64 day1.u64 day2.u64 in.dat; do
    producer >"$name"
  done
  gsort keys.f64 -o keys.npy
  for name in day1 day2; do gsort "$name.u64" -o "$name.u64"; done
  mkdir scratch
  while IFS= read -r line; do
    eval "${line//\/scratch/$PWD/scratch}" </dev/null || fail "this example fails: $line"
  done < <(examples)
  [[ $(examples | wc -l) -ge 10 ]] || fail 'README.md has few examples'
  for name in dump.u64 sorted.i64 distinct.u64 week.u64 '-r best.f32' '-t i32 output.bin' \
    '--record=100 --key=0:bytes10 out.dat'; do
    # shellcheck disable=SC2086  # options and a name
    gsort -c $name || fail "not in order: $name"
  done
  [[ $(stat -c %s order.npy best.f32 week.u64 | xargs) == '40128 4000 160000' ]] || fail 'an output has another size'
}

# The manual page and the completions are what the program prints.
try_pages() {
  local program=$1 zsh
  gzip -dc "$usr/share/man/man1/$program.1.gz" | cmp - <("$program" --generate=man)
  zsh=$(echo "$usr"/share/zsh/*/"_$program")
  cmp "$zsh" <("$program" --generate=zsh)
  cmp "$usr/share/bash-completion/completions/$program" <("$program" --generate=bash)
  cmp "$usr/share/fish/vendor_completions.d/$program.fish" <("$program" --generate=fish)
}

# The links of installed pages lead to installed files.
try_links() {
  local page link count=0
  while IFS=: read -r page link; do
    link=${link:2}
    [[ $link == *:* ]] && continue
    [[ -e $(dirname "$page")/$link ]] || fail "$page: $link leads nowhere"
    count=$((count + 1))
  done < <(grep -ro '\](\([^)# ]\+\)' --include='*.md' "$documents"/{gsort-*,libgsort*} 2>/dev/null)
  [[ $count -gt 0 ]] || fail 'no page has a link'
}

try_tools() {
  gsort-gen -t u16 -n 1000 -o made.u16
  gsort --trace=trace.json made.u16 -o made.u16
  if [[ -x $(command -v python3) ]]; then gsort-plot --text trace.json >plot.txt; fi
  for name in gsort-gen gsort-plot; do gzip -t "$usr/share/man/man1/$name.1.gz"; done
}

# The guide's example in C sorts dump.u64. The variables are for a USR that the system does not search.
try_library() {
  export PKG_CONFIG_PATH=$usr/lib/pkgconfig LD_LIBRARY_PATH=$usr/lib
  # shellcheck disable=SC2016
  sed -n '/^```c$/,/^```$/{/^```/d; p}' "$documents/libgsort-dev/README.md" >example.c
  # shellcheck disable=SC2046  # words
  cc -std=c99 example.c -o example $(pkg-config --cflags --libs gsort)
  producer >dump.u64
  ./example
}

try_cluster() {
  mpirun --map-by :OVERSUBSCRIBE -n 2 gsort-mpi ids.u64 -o parts.u64
  gsort -c parts.u64
}

try_examples
try_pages gsort
try_links
if [[ -e $usr/bin/gsort-gen ]]; then try_tools; fi
if [[ -e $usr/bin/gsort-mpi ]]; then try_pages gsort-mpi; fi
if [[ -e $usr/include/gsort.h ]] && command -v cc pkg-config >/dev/null; then try_library; fi
if [[ -e $usr/bin/gsort-mpi ]] && command -v mpirun >/dev/null; then try_cluster; fi
echo "installed.sh: $usr is complete"
