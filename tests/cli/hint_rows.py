"""The rows of hints.py: what follows from each hint, or why nothing can."""

import os
import re
import shlex

from hints import (ABOUT_FILES, ABOUT_MACHINE, ANOTHER_JOB, HAS_NAMES, OTHER_PROGRAM, SAYS_WHY, Either, each_alone,
                   followed, in_a_pipe, joined, long_name, output_of, prose, renamed, rows_in_order, split_words, type_of, value_of,
                   with_options, with_value, without, without_either)

def types_of_sosd(call, found):
    return Either(with_value("--type", "{0}", "{1}")(call, found))


def codes_of_numpy(call, found):
    if "--key" in call.message:
        return with_value("--key", "0:{0}", "0:{1}")(call, found)
    return with_value("--type", "{0}", "{1}")(call, found)


def format_of_inputs(words):
    names = " ".join(split_words(words)[1]).lower()
    return "npy" if ".npy" in names else "text" if ".txt" in names else "bin"


def with_output_format(*formats):
    """--format=IN:OUT, where IN is the format of the FILEs, and as --format says."""
    def change(call, found):
        given = [value_of(option).split(":")[0] for option in split_words(call.words)[0] if long_name(option) == "--format"]
        source = given[-1] if given else format_of_inputs(call.words)
        return sum((with_value("--format", f"{source}:{each}")(call, found) for each in formats), [])
    return change


def through(command):
    """Pipes the texts through a command that reads FILE; the names give the type."""
    def change(call, found):
        options, operands = split_words(call.words)
        kept = [option for option in options if long_name(option) not in ("--type", "--format")]
        words = joined(kept + [["--format=text"], ["-t", type_of(call.words)]], [])
        filled = command.replace("FILE", shlex.quote(operands[0])) if operands and operands[0] != "-" \
            else command.replace(" < FILE", "")
        return [f"{filled} | gsort {shlex.join(words)}"]
    return change


def taken_and_joined(call, found):
    """Takes and joins into another output, from the folders of the last --form."""
    parts = next(value_of(option).split("/")[-1] for option in split_words(call.words)[0]
                 if long_name(option) in ("--take", "--join"))
    return [f"for i in $(seq 0 $(({parts} - 1))); do gsort --take=$i/{parts} --from=$(ls -d runs* | tail -1) -o another; done; "
            f"gsort --join={parts} -o another"]


def formed_again(call, found):
    """Forms share N of in.u32, in folder rN, again in another folder, and takes the part from there."""
    folder, number = re.search(r" (?:from|in) (r(\d+)) at byte", call.message).groups()
    shares = next(value_of(option) for option in split_words(call.words)[0] if long_name(option) == "--from").split(",")
    words = [re.sub(rf"\b{folder}\b", "again", word) for word in call.words]
    return [f"gsort --form=again --share={number}/{len(shares)} in.u32; gsort {shlex.join(words)}"]


def with_last_output(call, found):
    options, operands = split_words(call.words)
    outputs = [option for option in options if long_name(option) == "--output"]
    return [joined([option for option in options if long_name(option) != "--output"] + outputs[-1:], operands)]


def with_named_value(*values):
    """Another value of the option, or the variable of the environment, that the message names."""
    def change(call, found):
        name = re.match(r"(--[\w-]+|GSORT_\w+)", call.message)[1]
        filled = [value.format(*found.groups()) for value in values]
        if name.startswith("--"):
            return with_value(name, *filled)(call, found)
        return [f"{name}={value} gsort {shlex.join(call.words)}" for value in filled]
    return change


def with_a_listed_value(call, found):
    return Either(with_named_value(*re.split(r",? ", found[1]))(call, found))


def levels(call, found):
    codec = re.match(r"--compress '(\w+)", call.message)[1]
    return with_value("--compress", f"{codec}:{found[1]}", f"{codec}:{found[2]}", codec)(call, found)


def with_output(name):
    """Names another output: a folder if the hint asks for one, parts if the old name has them."""
    def change(call, found):
        if "folder" in call.hint.split(" with -o")[0]:
            os.makedirs(name, exist_ok=True)
        has_parts = "{}" in (output_of(call.words) or "")
        return with_value("--output", name + ("{{}}" if has_parts else ""))(call, found)
    return change


def options_of_the_command(call, found):
    """--fingerprint has no output."""
    words = without("--output")(call, found)[0] if found[1] == "--fingerprint" else call.words
    return [f"GSORT_OPTIONS= gsort {shlex.join([*words, found[1]])}"]


def sorted_first(call, found):
    options, operands = split_words(call.words)
    return [f"gsort --each {shlex.join(sorted(set(operands)))} && gsort {shlex.join(joined([*options, ['-m']], operands))}"]


def with_layout(call, found):
    """Takes the hint's options, which say where the elements are, instead of those that said otherwise."""
    kept = without("--type", "--record", "--key", "--format")(call, found)[0]
    options, operands = split_words(kept)
    return [joined(options + [[word] for word in found[1].split()], operands)]


def with_columns(call, found):
    """Takes the hint's columns instead of --record and --key."""
    options, operands = split_words(without("--record", "--key")(call, found)[0])
    return [joined([*options, [found[1]]], operands)]


def distinct_alone(call, found):
    words = without("--intersect", "--subtract", "--merge")(call, found)[0]
    return [["-u", *words]]


# Options that were meant, or are one too many.
followed(r"did you mean --([\w=-]+)\?", renamed)
followed(r"gsort -h shows the common options, gsort --help all", lambda call, found: [["-h"], ["--help"]])
followed(r"(?:.*; )?leave out one of them", without_either)
followed(r"leave out (-T|-m|--argsort|--skip-end|--skip|--elements)\b.*", without("{0}"))
followed(r"a shuffle does not compare elements; leave out (--\w+)", without("{0}"))
followed(r"give SEED a number, so that (?:the same command continues|all processes have the same order)", with_options("--shuffle=1"))
followed(r"give a whole number from (\d+) to \d+, or (--shuffle) alone", with_value("--shuffle", "{0}"))
followed(r"leave out --record and --key: the keys of the array are sorted", without("--record", "--key"))
followed(r"runs are kept in the folder of --resume; leave out (-T)", without("{0}"))
followed(r"its header says so; leave out (--record|--type)", without("{0}"))
followed(r"-t (\w+) reads the other files so, too", with_value("--type", "{0}"))
followed(r"its header says so; leave out (--endian), or sort such files separately", without("{0}"))
followed(r"arrays of (?:records|such keys) are sorted on the CPU; leave out (--engine)", without("{0}"))
followed(r"its rows are sorted on their own without that option", without("--batch-elements"))
followed(r"--merge needs sorted inputs(?:, with floats in the order .*)?; without it gsort sorts them", without("--merge"))
followed(r"none has no level", with_value("--compress", "none"))
followed(r"--engine auto uses the CPU if there is no GPU", with_value("--engine", "auto"))

# Options that are missing.
followed(r"add (-u): one of each key comes out, with its count", with_options("{0}"))
followed(r"they hold only keys; add (-u) to count these", with_options("-u"))
followed(r"add (-u) (--count): each key comes out with its count", with_options("-u", "--count"))
followed(r"a sort verifies its own output; to check a file, add --check", with_options("--check"))
followed(r"name it with one of them, or add (--compress=\w+)", with_options("{0}"))

# Types.
followed(r"names of types count bits: NumPy's \w+ is (\w+), or '(<\w+)'", codes_of_numpy)
followed(r"SOSD files hold (u64) or (u32): give -t u64 or -t u32", types_of_sosd)
followed(r"give it with -t (\w+), a suffix, as in FILE\.\w+, or GSORT_TYPE", with_value("--type", "{0}"))
followed(r"give it with --key=OFFSET:TYPE or -t (\w+)", with_value("--type", "{0}"))
followed(r"likely \w+ is the wrong type: -t (f64) sorts such numbers", with_value("--type", "{0}"))
followed(r"\w+ (?:holds numbers|has no value) .*; -t (\w+) holds this one", with_value("--type", "{0}"))

# Formats.
followed(r"(?:unpack it|take an array out, .*|samtools sort sorts it|save .*|cut one column .*|write its .*)"
         r"; -t \w+ sorts its bytes as they are", with_value("--type", "u8"))
followed(r"--format=(text|npy) .*; -t \w+ sorts its bytes as they are", with_value("--format", "{0}"))
followed(r"it looks like text: (--format=text) reads one number a line", with_options("{0}"))
followed(r"--format=npy sorts the array; (--format=bin) (--skip=\d+) sorts the bytes behind its header, and copies that",
         with_options("{0}", "{1}"))
followed(r"write it as (512M), 4G or 50%", with_value("--buffer-size", "{0}"))
followed(r"its rows are sorted by the numbers of columns: leave out --record, and give (--key=\S+)", with_columns, rows_in_order)
followed(r"(?:-mu --count counts keys; )?add (--format=bin) if -u --count wrote it(?:; -mu --count counts keys)?",
         with_options("{0}"))
followed(r"--format=bin takes all files as raw bytes", with_options("--format=bin"))
followed(r"(--format=bin) (--skip=8) leaves the number of keys in place", with_options("{0}", "{1}"))
followed(r"gsort writes .* under other names; (--format=bin) writes raw keys under this name", with_options("{0}"))
followed(r"is it (?:text|a \.npy file)\? (--format=bin) reads raw keys", with_options("{0}"))
followed(r"to read the bytes as they are, use (--decompress=none) -t TYPE", with_options("{0}", "--type=u8"))
followed(r"to read the bytes as they are, use (--decompress=none) -t (\w+)", with_options("{0}", "--type={1}"))
followed(r"to read the bytes as they are, use (--decompress=none) (--format=npy)", with_options("{0}", "{1}"))
followed(r"to read the bytes as they are, use (--decompress=none) (--format=text) -t (\w+)",
         with_options("{0}", "{1}", "--type={2}"))
followed(r"use: (-[^|]*?)(?:; -t \w+ sorts its bytes as they are)?", with_layout)
followed(r"(?:give -S \d+M or more, or )?use: (.* \| gsort .*?)(?:, with the other options)?"
         r"(?:; --decompress=none .*|; -t \w+ sorts .*)?", in_a_pipe)
followed(r"give -S (\d+M) or more, or decompress such inputs first: .*", with_value("--buffer-size", "{0}"))
followed(r"test the file with '\w+ -t', or use (--decompress=none) to read the bytes as they are",
         with_options("{0}", "--type=u8"))
followed(r"decompress it once: .*; or sort the bytes of .* with (--decompress=\w+)", with_options("{0}"))
followed(r"remove the plus signs: (.*)", through("tr -d + < FILE"))
followed(r"remove empty lines: (.*)", through("grep '\\S' < FILE"))
followed(r"take one column of it, such as the first: (.*)", through("awk '{{print $1}}' < FILE"))
followed(r"convert it: (.*)", through("iconv -f UTF-16 -t UTF-8 < FILE"))
followed(r"turn the CRs into ends of lines: (.*)", through("tr '\\r' '\\n' < FILE"))
followed(r"(?:name an output file that is not compressed, or )?write raw keys: --format=IN:bin.*", with_output_format("bin"))
followed(r"write raw keys and counts \(--format=IN:bin\) or text \(--format=IN:text\)", with_output_format("bin", "text"))
followed(r"(--format=npy:bin) writes them as raw bytes", with_options("{0}"))
followed(r"give the output a name without that suffix, or add (--format=bin)", with_options("{0}"))
followed(r"give (--decompress=zstd) or (--decompress=none)", with_options("--decompress=none"))

# Values, counts and sizes.
followed(r"use at least (\d+[KMG])(?:,.*)?", with_value("--buffer-size", "{0}"))
followed(r"give more memory with -S(?:, or use shorter names)?", with_value("--buffer-size", "256M"))
followed(r"write (\d+M) for mebibytes, \d+K for kibibytes, or \d+B for bytes", with_named_value("{0}"))
followed(r"the (?:values|types) are ([^;]*)", with_a_listed_value)
followed(r"give a whole number from (\d+) to \d+", with_named_value("{0}"))
followed(r"give a whole number in digits, as in (\d+)", with_named_value("{0}"))
followed(r"a header has (0) to \d+ bytes", with_named_value("{0}"))
followed(r"(0) to \d+ bytes may follow the elements", with_named_value("{0}"))
followed(r"give numbers from .*, as in --device=(0,1), or (all), or (auto)", with_named_value("{0}", "{1}", "{2}"))
followed(r"its levels are (\d+) to (\d+), \d+ if none is given", levels)
followed(r"--share=(0/1) is the whole input", with_value("--share", "{0}"))
followed(r"sort each FILE, then add -m", sorted_first)
followed(r"name all FILEs to compare; -u alone takes one", distinct_alone)
followed(r"put it into a file, or leave out --resume", without("--resume"))
followed(r"every key occurs at least once; --min-count=2 leaves out keys that occur once", with_value("--min-count", "2"))
followed(r"--check -u says whether keys repeat", without("--count"))
followed(r"-u --argsort writes where each key occurs first", without("--count"))
followed(r"-?GSORT_OPTIONS holds options of resources and reporting, such as -S and -v; take (\S+) out of it, and give it with "
         r"the command", options_of_the_command)

# Files.
followed(r"to start again, name another folder, or remove (\S+) and (\S+) if no other sort needs them",
         lambda call, found: [*with_value("--resume", "another-folder")(call, found),
                              f"rm {found[1]} {found[2]}; gsort {shlex.join(call.words)}"])
followed(r"give the (?:positions|counts) a (?:file|folder) of their own with -o", with_output("another"))
followed(r"name another (?:file|folder) with -o", with_output("another"))
followed(r"name another file with -o, and rename it when the sort is complete", with_output("another"))
followed(r"the file was changed or the disk is faulty; check the disk, and run --form again for this share, in a new folder",
         formed_again)
followed(r"run --form again for all shares, in new folders, or give --take and --join another -o", taken_and_joined)
followed(r"name another (?:file|folder) with -o, or add (--compress=\w+)", with_options("{0}"))
followed(r"(?:set TMPDIR to an existing folder, or )?give (?:one|an existing folder) with -T",
         with_value("--temporary-directory", "."))
followed(r"add (--replace=write), which writes into it at the end, or .*", with_options("{0}"))
followed(r"give -o once", with_last_output)
followed(r"name a folder that does not exist", with_value("--form", "another-folder"))
followed(r"all parts of an output must be new, so that they appear together or not at all: name other parts",
         with_output("another"))
followed(r"write each part to its own file: put \{\} into the name of -o, as in (part-\{\}\.txt)",
         lambda call, found: [with_value("--output", "part-{{}}.txt")(call, found)[0]])
followed(r"name each file once: it is replaced, and its result would be sorted again", each_alone)

prose(ABOUT_FILES, r"check the path", r"use a shorter name", r"give -m and --batch-elements files that .*", r"check the permissions, (?:remove the attribute of an immutable folder with 'chattr -i', )?or use another path", r"check what it is redirected to",
      r"a part of the path is a file, not a folder", r"give (a file, not a folder|a name)", r"use another folder", r"with --each, -o names an existing folder; .*", r"is the file complete\?.*",
      r"is it a (whole \.npy|SOSD) file\?.*", r"a file holds one array; .*", r"every input must (begin with|have --skip) .*", r"copy the elements into .*",
      r"likely (-t is wrong|elements have another size).*", r"its header says so; the type comes from .*",
      r"sort such arrays separately", r"-m --count adds up what -u --count writes, .*", r"name the file with -o: .*", r"the descriptor is closed or .*", r"stdin is read once",
      r"the plan is text: .*", r"give the report a file of its own", r"name another output, .*",
      r"name all (inputs|that are to be compared).*", r"name (files|the folders); .*", r"name (a|another) folder,? .*",
      r"name the folders of all shares, .*", r"put (it|the names) into a file.*", r"name files; .*",
      r"gsort (deletes its files there|did not create this f(?:ile|older)).*", 
      r"-o must name a regular file, .*", r"wait until it ends, .*",
      r"try again when no program writes to it", r"let a program that receives whole messages .*", r"write them (first|with find).*", r"separate names by one NUL, .*",
      r"concatenate files first, .*", r"the sorted output is in place; .*")
prose(ABOUT_MACHINE, r"free some space .*", r"raise the limit with 'ulimit -f'",
      r"the limit on open files is too low; raise it with 'ulimit -n'", r"the disk reported an error; .*",
      r"give a folder with more room .*", r"use at least <.*")
prose(OTHER_PROGRAM, r"save (array\.ravel|numpy\.).*", r"array\.view\(.*", r"integers of 8 to 64 bits, .*", r"rows of up to .*",
      r"save its numbers as a \.npy file, or as raw keys", r"arrays of one dimension are sorted, .*", r"numpy\.char\.encode.*", r"array\.astype\('S1024'\) keeps .*", r"take an array out, .*", r"give the file itself, decompressed",
      r"to sort its rows as records, save .*", r"write raw keys \(--format=IN:bin\); numpy\.fromfile .*")
prose(ANOTHER_JOB, r"run gsort twice.*", r"the number of keys is not known in advance; .*", r"write the result with -o first, .*",
      r"write all counts, .*", r"sort (one|them|into|each).*", r"shuffle all elements as one, .*", r"only keys are counted, not records: .*",
      r"(split|resume|explain|check) one FILE at a time", r"run it once for each FILE", r"run --(?:form|take).*", r"merge .*",
      r"--take with .*", r"leave it out: --shuffle alone copies .*", r"form the shares with --float-order=total, .*")
prose(SAYS_WHY, r"each line holds one (number|key of bytes\d+), and nothing else", r"every array is sorted on its own and keeps its elements",
      r"offsets count from 0", r"a byte can be part of one key only", r"use adjacent keys for a longer one",
      r"quote words with .*", r"GSORT_OPTIONS holds options only; .*", r"give the whole fingerprint: .*",
      r"--\S+ (is|says|names|takes|needs) .*", r"a merge reads its inputs once and cannot resume",
      r"arrays are sorted one by one and cannot resume", r"only a sort can be resumed", r"give (it|inputs) with .*",
      r"give (every part|-o with|--format=IN here).*", r"with --inputs-here .*", r"\{\} becomes .*", r"use \{\} once, .*",
      r"\d+:bytesN compares its bytes as they are", r"no field has an order: .*", r"name those that decide with --key; .*",
      r"--key=0:bytes32,.*")
prose(HAS_NAMES, r"records have .*", r"an array has at least 1", r"OFFSET\[:TYPE\].*", r".*; bytesN, with N up to 32, compares N bytes",
      r"these can be sorted by: .*", r"columns have the numbers .*", r"the largest number is \d+", r"give less than 8E, as in .*", r"name fields with --key; .*", r"a sort uses \d+ at most", r"rows have at most .*",
      r"--key says where the keys are: .*", r"P is how many there are, .*", r"\w+ (holds|has) .*; -t takes another type")
