#!/bin/sh
# manual_page.sh OUTPUT VERSION DATE PROGRAM...: makes a compressed manual page of what PROGRAM... --help prints. Its first
# sentence is "NAME does something."
set -eu
output=$1 version=$2 date=$3
shift 3
help=$("$@" --help)
sentence=$(printf '%s\n' "$help" | sed -n '/^gsort-[a-z]* .*\./{s/\..*//p;q}')
name=${sentence%% *}
{
  printf '.TH %s 1 %s "gsort %s" "User Commands"\n.SH NAME\n%s \\- %s\n' "$name" "$date" "$version" "$name" "${sentence#* }"
  printf '.SH DESCRIPTION\n.nf\n'
  printf '%s\n' "$help" | sed "s/\\\\/\\\\e/g; s/-/\\\\-/g; s/^[.']/\\\\\\&&/"
} | gzip -9n >"$output"
