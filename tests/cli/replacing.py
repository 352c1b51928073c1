"""Command-line tests of outputs that no file can be renamed to: what is said before anything is read, and --replace=write."""

import os
import shlex

from limits import on_small_disk
from scenarios import in_own_mounts, report, scenario, skip

NOTHING_TO_READ = "<> <(:)"  # a pipe that its reader could write: a sort that reads first waits until it is killed


def on_mount_point(place, script: str):
    return in_own_mounts(place, "printf old > host; touch out; mount --bind host out", script)


def refused(done, reason: str) -> bool:
    print(done.stdout + done.stderr, end="")
    return done.returncode == 2 and done.stderr.startswith(f"gsort: replacing out: {reason}") and "\n  " in done.stderr


@scenario
def a_mount_point_is_named_before_anything_is_read(place):
    done = on_mount_point(place, f"timeout 20 gsort -t u8 -o out {NOTHING_TO_READ}")
    return report(it_is_refused=refused(done, "it is a mount point"), nothing_is_lost=(place.work / "host").read_text() == "old")


@scenario
def a_mount_point_is_written_into(place):
    done = on_mount_point(place, "printf cab > in; gsort -v -t u8 in -o out --replace=write && gsort -t u8 -r out -o out --replace=write")
    print(done.stderr)
    return report(status_is_0=done.returncode == 0, it_is_sorted=(place.work / "host").read_text() == "cba",
                  nothing_is_left=sorted(os.listdir(place.work)) == ["host", "in", "out"] and not place.leftovers())


@scenario
def a_file_in_a_folder_that_is_closed_is_written_into(place):
    """The copy is made in the folder for temporary files."""
    if os.getuid() != 0:
        skip("only root can make files of other users")
    place.bash("mkdir closed; printf cab > closed/out; chmod 666 closed/out; printf 2abc1 > in")
    done = place.bash("unpriv gsort -t u8 in -o closed/out --replace=write")
    print(done.stderr)
    if done.returncode == 77:
        skip(done.stdout)
    return report(status_is_0=done.returncode == 0, it_is_sorted=(place.work / "closed/out").read_text() == "12abc",
                  nothing_is_left=os.listdir(place.work / "closed") == ["out"] and not place.leftovers())


@scenario
def another_users_file_in_a_sticky_folder(place):
    if os.getuid() != 0:
        skip("only root can make files of other users")
    place.bash("mkdir shared; chmod 1777 shared; printf old > shared/out; chmod 666 shared/out; printf cab > in")
    early = place.bash(f"cd shared; timeout 20 unpriv gsort -t u8 -o out {NOTHING_TO_READ}")
    if early.returncode == 77:
        skip(early.stdout)
    written = place.bash("cd shared; unpriv gsort -t u8 ../in -o out --replace=write; stat -c %u out; cat out")
    print(written.stdout, written.stderr)
    own = place.bash("gsort -t u8 -r in -o shared/out; cat shared/out")  # root may
    return report(it_is_refused=refused(early, "it is another user's file in a folder with the sticky bit"),
                  it_is_written_into=written.stdout == "0\nabc", root_may_rename=own.stdout == "cba")


@scenario
def a_file_with_attributes_is_named_before_anything_is_read(place):
    checks = {}
    place.bash("printf cab > in; gsort -t u8 --form=runs --share=0/1 in")
    for attribute, reason in ("a", "append-only"), ("i", "immutable"):
        if place.bash(f"rm -f out; printf old > out; chattr +{attribute} out").returncode:
            skip("the attributes of files cannot be changed here")
        try:
            sorts = [f"-t u8 -o out {NOTHING_TO_READ}", f"--replace=write -t u8 -o out {NOTHING_TO_READ}",
                     "--take=0/1 --from=runs -o out", "--join=1 -o out"]
            checks |= {f"{reason}, {words}": refused(place.bash(f"timeout 20 gsort {words}"), f"it is {reason}") for words in sorts}
        finally:
            place.bash(f"chattr -{attribute} out")
        checks[f"{reason}, it stays"] = (place.work / "out").read_text() == "old"
    return report(**checks, nothing_is_left=not place.leftovers())


@scenario
def a_file_that_is_read_only_is_replaced_by_no_door(place):
    place.bash("mkdir own; chmod 777 own; printf cab > own/in")
    script = ("gsort -t u8 --form=runs --share=0/1 in; printf old > late; gsort --take=0/1 --from=runs -o late; printf old > out; "
              "chmod 444 out late; gsort -t u8 in -o out; echo $?; gsort --take=0/1 --from=runs -o out; echo $?; "
              "gsort --join=1 -o late; echo $?; cat out late; chmod 644 late; gsort --join=1 -o late; cat late")
    done = place.bash(f"cd own; {'unpriv ' * (os.getuid() == 0)}bash -c {shlex.quote(script)}")
    print(done.stdout, done.stderr)
    if done.returncode == 77:
        skip(done.stdout)
    named = [line.split(":")[1:] for line in done.stderr.splitlines() if line.startswith("gsort: ")]
    return report(each_is_refused=done.stdout == "2\n2\n2\noldoldabc",
                  for_one_reason=named == [[f" opening {name}", " Permission denied"] for name in ("out", "out", "late")])


@scenario
def an_append_only_folder_keeps_no_hidden_files(place):
    place.bash("mkdir log; printf cab > in; gsort --form=runs --share=0/1 -t u8 in; printf old > log/out")
    if place.bash("chattr +a log").returncode:
        skip("folders cannot be made append-only here")
    try:
        commands = ["gsort -t u8 in -o log/out", "gsort -t u8 --form=log/r --share=0/1 in",
                    "gsort -t u8 --resume=log/r in -o out", "gsort --take=0/1 --from=runs -o log/new"]
        refusals = [place.bash(f"timeout 20 {command}") for command in commands]
        print("".join(done.stderr for done in refusals))
        written = place.bash("gsort --replace=write -t u8 in -o log/out; cat log/out; ls -A log")
    finally:
        place.bash("chattr -a log")
    return report(they_are_refused=all(done.returncode == 2 and "folder is append-only" in done.stderr for done in refusals),
                  it_is_written_into=written.stdout == "abcout\n", nothing_is_left=not place.leftovers())


@scenario
def an_immutable_folder_is_called_that(place):
    place.bash("mkdir fixed; printf cab > in; gsort --form=runs --share=0/1 -t u8 in; printf old > fixed/out")
    if place.bash("chattr +i fixed").returncode:
        skip("folders cannot be made immutable here")
    try:
        sorts = ["-t u8 in", "--take=0/1 --from=runs", "--join=1"]
        commands = [f"{sort} -o fixed/{name}" for sort in sorts for name in ("out", "new") if sort != "--join=1" or name == "out"]
        refusals = [place.bash(f"timeout 20 gsort {words}") for words in [*commands, "-t u8 --form=fixed/r --share=0/1 in"]]
        print("".join(done.stderr for done in refusals))
        written = place.bash("gsort --replace=write -t u8 in -o fixed/out; cat fixed/out; ls -A fixed")
    finally:
        place.bash("chattr -i fixed")
    return report(each_names_the_way_out=all(done.returncode == 2 and "'chattr -i'" in done.stderr for done in refusals),
                  it_is_written_into=written.stdout == "abcout\n", nothing_is_left=not place.leftovers())


@scenario
def a_read_only_mount_is_called_that_at_each_door(place):
    done = on_mount_point(place, "printf cab > in; gsort --form=runs --share=0/1 -t u8 in; mount -o remount,ro,bind out; "
                         "gsort -t u8 in -o out; echo $?; gsort --take=0/1 --from=runs -o out; echo $?")
    print(done.stdout, done.stderr)
    return report(each_is_refused=done.stdout == "2\n2\n",
                  for_one_reason=done.stderr.count("gsort: opening out: Read-only file system\n") == 2)


@scenario
def room_for_both_files_is_looked_for(place):
    """On a small file system, with the copy on it and elsewhere."""
    script = ("gsort-gen -t u32 --size 3M -o in.u32; printf old > small/out; "
              "gsort in.u32 -o small/out --replace=write --explain | grep -o 'all of it is then written into small/out.*'; "
              "gsort in.u32 -o small/out --replace=write && gsort -c -t u32 small/out | head -1; "
              "gsort-gen -t u32 --size 5M -o in.u32; printf old > small/out; gsort in.u32 -o small/out --replace=write; echo $?; "
              "cat small/out; ls -A small")
    done = on_small_disk(place, 4, script)
    print(done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    return report(the_plan_has_it=lines[0].startswith("all of it is then written into small/out, which takes 3.00 MiB more"),
                  the_copy_was_elsewhere=lines[1] == "small/out: 786,432 elements, u32, sorted ascending",
                  too_little_room_is_status_2=lines[2] == "2", the_old_output_stays=lines[3] == "oldout",
                  nothing_temporary_is_left=not place.leftovers())


MEANWHILE = r"""
    exec 3<> more
    gsort -t u8 $SORT < /dev/null 3>&- & sort=$!
    until ls -l /proc/$sort/fd 2>/dev/null | grep -q $OPEN; do sleep 0.01; done
    $CHANGE
    printf e >&3; exec 3>&-
    wait $sort; echo $?
"""


def changed_meanwhile(place, sort: str, change: str, opened: str):
    """Runs a sort that waits for the FIFO `more`; makes the change when the file that is `opened` shows that the output is
    open, too. Returns what it prints, then status and what `out` holds."""
    place.bash("rm -rf out other more; mkfifo more; printf cab > out; printf new > other; chmod 644 out")
    script = MEANWHILE.replace("$SORT", sort).replace("$CHANGE", change).replace("$OPEN", opened)
    done = place.bash(f"{script}\ncat out; echo; ls -A; stat -c %a out")
    print(done.stdout, done.stderr)
    return done


@scenario
def a_file_that_is_renamed_to_the_name_of_an_input_is_not_replaced(place):
    checks = {}
    for opened, sort in (("deleted", "out more -o out"), ("/out$", "out more -o out --replace=write")):
        done = changed_meanwhile(place, sort, "mv other out", opened)
        checks |= {f"{sort}: status 2": done.stdout.startswith("2\nnew\n"), f"{sort}: it is named":
                   done.stderr.startswith("gsort: reading out: the file was replaced while it was read\n")}
    return report(**checks, nothing_is_left=not place.leftovers())


@scenario
def a_file_whose_beginning_was_not_read_is_not_replaced(place):
    after_2_bytes = "{ dd bs=2 count=1 of=/dev/null status=none; gsort -t u8 - -o %s; echo $?; cat in out; } < in"
    place.bash("printf xxcab > in")
    replaced, other = (place.bash(after_2_bytes % name) for name in ("in", "out"))
    print(replaced.stderr)
    return report(it_is_refused=replaced.stdout == "2\nxxcab", other_outputs_are_not=other.stdout == "0\nxxcababc",
                  it_is_named=replaced.stderr.startswith("gsort: replacing the file of standard input: it is read from byte 2 on, "))


@scenario
def an_output_does_not_follow_its_folder(place):
    """It is an error if the path of the output leads elsewhere: a folder was moved, or a link in the path was changed."""
    checks = {}
    for change in "mv sub moved", "mv sub moved; mkdir sub; printf new > sub/out", "rm -r sub", "ln -sfn elsewhere link":
        place.bash("rm -rf sub moved elsewhere link in; mkdir sub elsewhere; ln -s sub link; printf cab > in; printf old > sub/out")
        done = changed_meanwhile(place, f"in more -o {'link' if 'link' in change else 'sub'}/out", change, "deleted")
        files = place.bash("cat sub/out moved/out elsewhere/out 2>/dev/null").stdout
        checks |= {f"{change}: status 2": done.stdout.startswith("2\n"),
                   f"{change}: it is named": "/out: its folder was moved or removed during the sort\n" in done.stderr,
                   f"{change}: no file has changed": files == ("newold" if "new" in change else "" if "rm" in change else "old")}
        place.bash("rm -rf sub moved elsewhere link")
    return report(**checks, nothing_is_left=not place.leftovers())


@scenario
def a_removed_output_that_is_written_into_is_an_error(place):
    place.bash("printf d > in")
    removed = changed_meanwhile(place, "in more -o out --replace=write", "rm out", "/out$")
    replaced = changed_meanwhile(place, "in more -o out --replace=write", "mv other out", "/out$")
    return report(removed_is_status_2=removed.stdout == "2\n\nin\nmore\nother\n",
                  replaced_is_status_2=replaced.stdout == "2\nnew\nin\nmore\nout\n644\n",
                  both_are_named="was removed or renamed during" in removed.stderr and "was replaced during" in replaced.stderr,
                  nothing_is_left=not place.leftovers())


@scenario
def two_sorts_do_not_write_into_one_file_at_the_same_time(place):
    place.bash("printf d > in")
    done = changed_meanwhile(place, "in more -o out --replace=write", "gsort -t u8 in -o out --replace=write; echo $?; cat out; echo", "/out$")
    return report(the_second_one_is_refused=done.stdout.startswith("2\ncab\n"), the_first_one_is_done=done.stdout.startswith("2\ncab\n0\nde\n"),
                  it_is_named=done.stderr.startswith("gsort: opening out: another program, perhaps gsort, has locked it\n"),
                  nothing_is_left=not place.leftovers())


@scenario
def an_output_has_the_mode_that_the_old_one_has_at_the_end(place):
    place.bash("printf d > in")
    own = changed_meanwhile(place, "out more -o out", "chmod 600 out", "deleted")
    other = changed_meanwhile(place, "in more -o out", "chmod 600 other; mv other out", "deleted")
    return report(of_an_input=own.stdout == "0\nabce\nin\nmore\nother\nout\n600\n",
                  of_another_file=other.stdout == "0\nde\nin\nmore\nout\n600\n")
