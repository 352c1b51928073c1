#!/bin/sh
# manual_page.sh OUTPUT VERSION PROGRAM...: makes a compressed manual page of what PROGRAM... --help prints. Its first sentence
# is "NAME does something."
set -eu
output=$1 version=$2
shift 2
help=$("$@" --help)
sentence=$(printf '%s\n' "$help" | sed -n '/^gsort-[a-z]* .*\./{s/\..*//p;q}')
name=${sentence%% *}
{
  printf '.TH %s 1 "" "gsort %s" "User Commands"\n.SH NAME\n%s \\- %s\n' "$name" "$version" "$name" "${sentence#* }"
  printf '.SH DESCRIPTION\n.nf\n'
  printf '%s\n' "$help" | sed "s/\\\\/\\\\e/g; s/-/\\\\-/g; s/^[.']/\\\\\\&&/"
} | gzip -9n >"$output"
