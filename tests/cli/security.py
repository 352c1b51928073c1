"""Command-line tests against planted files and links, and against absurd sizes."""

import os
import stat
import struct
import subprocess
from pathlib import Path

import run
from scenarios import MIB, finish, report, scenario, skip, spilled_files, start, wait_until, wait_until_still


@scenario
def the_mode_of_a_new_output_is_what_the_umask_leaves(place):
    place.bash("gsort-gen -n 1000 -o in")
    modes = {}
    for mask in ("000", "077", "027"):
        modes[mask] = place.bash(f"umask {mask}; gsort in -o out-{mask} && stat -c %a out-{mask}").stdout.strip()
    print("   ", modes)
    return report(as_for_any_new_file=modes == {"000": "666", "077": "600", "027": "640"})


def give_list(path: Path, kind: str, entries: list[tuple[int, int]], user: int = 2**32 - 1) -> bytes:
    """The list, as the kernel takes it: what the owner (1), `user` (2), the group (4), the mask (16) and all others (32) may do."""
    made = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", who, what, user if who == 2 else 2**32 - 1) for who, what in entries)
    try:
        os.setxattr(path, f"system.posix_acl_{kind}", made)
    except OSError as error:
        skip(f"the file system has no access lists: {error}")
    return made


@scenario
def who_is_shut_out_of_a_folder_may_not_read_a_new_output(place):
    """By the folder's default access list, in place of the umask."""
    place.bash("gsort-gen -n 1000 -o in; mkdir shut")
    give_list(place.work / "shut", "default", [(1, 7), (4, 5), (32, 0)])
    place.bash("umask 022; touch shut/plain; gsort in -o shut/new")
    modes = place.bash("stat -c %a shut/plain shut/new").stdout.split()
    print("   ", modes)
    return report(as_for_any_new_file=modes == ["640", "640"])


@scenario
def a_joined_output_gives_its_group_no_more_than_before(place):
    """Its list names one user, so that its mode has the mask where that of others has the group."""
    place.bash("gsort-gen -n 1000 -o in; gsort --form=r --share=0/1 in; touch out out-0")
    for name in ("out", "out-0"):
        secret = give_list(place.work / name, "access", [(1, 6), (2, 6), (4, 0), (16, 6), (32, 0)], user=65534)
    place.bash("umask 0; for o in out out-{}; do gsort --take=0/1 --from=r -o $o; done; stat -c %a .out*gsort-[op]*[0-9a-f] > modes;"
               "for o in out out-{}; do gsort --join=1 -o $o; done")
    hidden = (place.work / "modes").read_text().split()
    kept = ["system.posix_acl_access" in os.listxattr(place.work / name) and
            os.getxattr(place.work / name, "system.posix_acl_access") == secret for name in ("out", "out-0")]
    print("   ", hidden, kept)
    return report(hidden_files_are_the_owners_alone=all(mode == "600" for mode in hidden) and hidden,
                  outputs_are_sorted=place.bash("gsort -C out && cmp out out-0").returncode == 0,
                  lists_are_as_before=all(kept))


@scenario
def a_record_that_somebody_planted_is_not_believed(place):
    """In a sticky folder, where the names of the victim's files tell all that such a record says."""
    if os.geteuid() != 0:
        skip("only root can make a file of somebody else")
    place.bash("chmod 1777 .; gsort-gen -t u32 -n 100000 -o in.u32; gsort in.u32 -o want; gsort --form=r --share=0/1 in.u32;"
               "for i in 0 1; do gsort --take=$i/2 --from=r -o out; done;"
               "dd status=none if=/dev/zero of=$(ls .out.gsort-parts-*) bs=1000 seek=200 count=200 conv=notrunc")
    (record,) = place.work.glob(".out.gsort-part-*-1-of-2")
    os.chown(record, 65534, 65534)
    taken = place.bash("gsort -v --take=1/2 --from=r -o out && gsort --join=2 -o out && cmp out want")
    print("   ", taken.stdout, taken.stderr)
    return report(part_is_taken="complete already" not in taken.stderr, output_is_right=taken.returncode == 0)


@scenario
def nobody_else_may_open_what_is_being_written(place):
    place.bash("umask 0")
    process = start(place, "-t", "u64", "-S", "32M", "-o", "out", feed=bytes(64 * MIB), preexec_fn=lambda: os.umask(0))
    spills = wait_until(process, lambda: spilled_files(place, process))
    folder = f"/proc/{process.pid}/fd/"
    files = [os.stat(folder + name) for name in os.listdir(folder) if "(deleted)" in os.readlink(folder + name)]
    status, _ = finish(process)
    return report(status_is_0=status == 0, runs_are_spilled=spills, runs_and_output_are_open=len(files) >= 2,
                  they_are_the_owners_alone=all(stat.S_IMODE(facts.st_mode) == 0o600 for facts in files),
                  they_have_no_names=all(facts.st_nlink == 0 for facts in files))


@scenario
def a_hard_link_of_the_output_keeps_what_it_had(place):
    done = place.bash("gsort-gen -n 1000 -o in; echo precious > victim; ln victim out; gsort in -o out; cat victim")
    return report(status_is_0=done.returncode == 0, the_other_name_is_untouched=done.stdout == "precious\n")


@scenario
def a_temporary_folder_that_becomes_a_link_gives_nothing_away(place):
    folder, victim, moved = place.work / "runs", place.work / "victim", place.work / "moved"
    folder.mkdir()
    victim.mkdir()
    data = place.bash_bytes("gsort-gen -t u64 --size 128M | tee in.u64")
    process = start(place, "-t", "u64", "-S", "32M", "-T", "runs", "-o", "out", feed=data[:64 * MIB])
    wait_until_still(process)
    folder.rename(moved)
    folder.symlink_to(victim)
    process.stdin.write(data[64 * MIB:])
    process.stdin.flush()
    links = Path(f"/proc/{process.pid}/fd")
    files = [os.readlink(link) for link in links.iterdir()]  # they have no names in a folder
    status, _ = finish(process)
    return report(status_is_0=status == 0, runs_are_in_the_folder=any(file.startswith(f"{moved}/") for file in files),
                  nothing_is_in_the_other_folder=not any(file.startswith(f"{victim}/") for file in files),
                  nothing_is_left=not any(moved.iterdir()) and not any(victim.iterdir()),
                  all_is_sorted=place.bash("reference-sort u64 < in.u64 | cmp - out").returncode == 0)


SIZES = ["0", "1", "2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
         "18446744073709551615", "18446744073709551616", "99999999999999999999999", "-1", "1e99", "0x10", "", " 1"]


@scenario
def sizes_that_nobody_has_are_refused_or_harmless(place):
    place.bash("gsort-gen -t u32 -n 1000 -o in.u32")
    problems = []
    for option in ("--skip=", "--skip-end=", "--elements=", "--top=", "--batch-elements=", "--record=", "--key=0:u32 --record=", "--parallel=",
                   "--batch-size=", "--device=", "-S ", "--gpu-memory="):
        for size in SIZES:
            for unit in ("", "G") if option in ("-S ", "--gpu-memory=") else ("",):
                # --explain plans, but does not start four billion threads
                arguments = [*option.split(" ")[:-1], option.split(" ")[-1] + size + unit]
                done = subprocess.run([place.gsort, "--explain", *filter(None, arguments), "in.u32", "-o", "out"],
                                      cwd=place.work, env=place.environment, capture_output=True, text=True, timeout=60)
                well = done.returncode == 0 or (done.returncode == 2 and not run.message_problem(done.stderr))
                if not well:
                    problems.append(f"{arguments}: status {done.returncode}: {done.stderr!r}")
    print("\n".join(problems))
    return report(none_ends_badly=not problems, no_output_appears=not (place.work / "out").exists())


def array_header(shape: str) -> bytes:
    text = f"{{'descr': '<u4', 'fortran_order': False, 'shape': ({shape}), }}"
    text += " " * (118 - len(text) - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@scenario
def arrays_that_promise_too_much_are_refused(place):
    problems = []
    for shape in ("18446744073709551615,", "18446744073709551616,", "9223372036854775808,", "4611686018427387904,",
                  "4294967296, 4294967296", "-1,", "1,", "", "4611686018427387904, 4"):
        (place.work / "in.npy").write_bytes(array_header(shape) + bytes(40))
        for feed in ("in.npy", "--format=npy < in.npy"):
            done = place.bash(f"gsort {feed} -o out")
            if done.returncode != 2 or run.message_problem(done.stderr) or (place.work / "out").exists():
                problems.append(f"({shape}) {feed}: status {done.returncode}: {done.stderr!r}")
    print("\n".join(problems))
    return report(each_is_refused_in_one_message=not problems)


@scenario
def a_file_of_holes_larger_than_any_disk_is_refused_at_once(place):
    problems = []
    for size in ("8E", "7E", "16T"):
        place.bash(f"rm -f in.u64; truncate -s {size} in.u64 2>/dev/null || truncate -s 15T in.u64")
        done = place.bash("gsort in.u64 -o out")
        if done.returncode != 2 or run.message_problem(done.stderr) or (place.work / "out").exists():
            problems.append(f"{size}: status {done.returncode}: {done.stderr!r}")
    print("\n".join(problems))
    return report(each_is_refused_in_one_message=not problems)
