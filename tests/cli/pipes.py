"""Command-line tests of patience: pipes whose other end blocks or dribbles, and signals that must not matter."""

import os
import signal
import subprocess
import time
from pathlib import Path

from scenarios import MIB, bytes_read, finish, report, scenario, start, wait_until, wait_until_still

BLOCKED_SECONDS = 8


def cpu_seconds(process) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_while_blocked(process) -> float:
    """The processor time of the process while nothing happens at the other end."""
    wait_until_still(process)
    before = cpu_seconds(process)
    time.sleep(BLOCKED_SECONDS)
    return cpu_seconds(process) - before


@scenario
def a_reader_that_blocks_costs_no_cpu(place):
    place.bash("gsort-gen -t u32 --size 8M -o in.u32")
    wanted = place.bash_bytes("reference-sort u32 < in.u32")
    process = start(place, "in.u32")
    used = cpu_while_blocked(process)
    got = process.stdout.read()
    process.communicate()
    print(f"    {used:.2f} s of CPU")
    return report(status_is_0=process.returncode == 0, all_arrives=got == wanted, it_sleeps=used < 0.2)


@scenario
def a_writer_that_blocks_costs_no_cpu(place):
    process = start(place, "-t", "u64", "-o", "out", feed=bytes(MIB))
    used = cpu_while_blocked(process)
    status, _ = finish(process)
    print(f"    {used:.2f} s of CPU")
    return report(status_is_0=status == 0, all_is_there=(place.work / "out").read_bytes() == bytes(MIB),
                  it_sleeps=used < 0.2)


@scenario
def a_writer_of_single_bytes_is_waited_for(place):
    place.bash("gsort-gen -t u32 -n 5003 -o in.u32")
    data = (place.work / "in.u32").read_bytes()
    process = start(place, "-t", "u32", "-o", "out", stdin=subprocess.PIPE)
    for at in range(len(data)):
        os.write(process.stdin.fileno(), data[at:at + 1])
    status, _ = finish(process)
    return report(status_is_0=status == 0,
                  all_is_sorted=(place.work / "out").read_bytes() == place.bash_bytes("reference-sort u32 < in.u32"))


def survives(place, number, ignored: bool) -> bool:
    """Sends the signal while a pipe is being read; the sort must go on as if nothing had happened."""
    process = start(place, "-t", "u64", "-o", "out", feed=bytes(MIB),
                    preexec_fn=(lambda: signal.signal(number, signal.SIG_IGN)) if ignored else None)
    wait_until(process, lambda: bytes_read(process) > MIB // 2)  # then it has told the system which signals it ignores
    process.send_signal(number)
    status, _ = finish(process)
    return report(status_is_0=status == 0, all_is_there=(place.work / "out").read_bytes() == bytes(MIB))


@scenario
def messages_do_not_get_among_the_elements(place):
    """If messages and output go to one file or pipe, it is an error, unless there can be no messages."""
    checks = {}
    place.bash("printf 2222111100001111 > in")
    for words, told in ("in", True), ("-v -t u8 in", True), ("-t u8 --progress=json in", True), ("-t u8 in", False), ("-q in", False):
        for ends, out in ("> out 2>&1", "out"), (">> out 2>> out", "out"), ("2>&1 | cat > piped", "piped"):
            done = place.bash(f"set -o pipefail; rm -f out piped; gsort {words} {ends}; echo $?; cat {out}")
            refused = done.stdout.startswith("2\ngsort: standard error: is also the output\n  send messages to another file")
            checks[f"{words} {ends}"] = refused if told else done.stdout[:2] == "0\n" and len(done.stdout) == 18
    separate = place.bash("gsort -v -t u8 in > out 2> messages; echo $?; cat out")
    return report(**checks, separate_files_are_fine=separate.stdout == "0\n0000111111112222", nothing_is_left=not place.leftovers())


@scenario
def a_report_may_be_in_a_log(place):
    """To which others write, too: messages of the same sort, or another program."""
    checks = {}
    for more in "--progress=json", "-v --progress=always":
        log = place.bash(f"printf 2222111100001111 > in; gsort -t u8 {more} --stats=/dev/stderr in -o out 2> log; echo $?; cat log")
        checks[more] = log.stdout.startswith("0\n") and '"elements": 16' in log.stdout
    return report(**checks)


@scenario
def a_hangup_that_nohup_ignores_stays_ignored(place):
    return survives(place, signal.SIGHUP, ignored=True)


@scenario
def an_interrupt_that_is_ignored_stays_ignored(place):
    return survives(place, signal.SIGINT, ignored=True)


@scenario
def the_signal_of_a_file_too_large_is_no_end(place):
    return survives(place, signal.SIGXFSZ, ignored=False)
