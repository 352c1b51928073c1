"""Command-line tests that need more than bash: terminals, signals, files that change under the reader. Each
function is a case, gets a Workplace of run.py, and returns whether it passed."""

import errno
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import run

MIB = 1 << 20
SCENARIOS = {}
DUMP_SYSTEM = Path(__file__).resolve().parents[2] / "tools" / "dump_system"


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def all_scenarios():
    return SCENARIOS


def report(**checks) -> bool:
    """Says which of the named checks do not hold."""
    for name, holds in checks.items():
        if not holds:
            print("    does not hold:", name.replace("_", " "))
    return all(checks.values())


def skip(reason: str):
    print("skipped:", reason)
    raise SystemExit(run.SKIPPED)


def start(place, *arguments, feed: bytes | None = None, **more) -> subprocess.Popen:
    """Standard input is `feed`, and stays open behind it."""
    stdin = subprocess.DEVNULL if feed is None else subprocess.PIPE
    more = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    process = subprocess.Popen([place.gsort, *arguments], cwd=place.work, env=place.environment, **more)
    if feed:
        process.stdin.write(feed)
        process.stdin.flush()
    return process


def finish(process) -> tuple[int, str]:
    """Ends its standard input, and waits; the exit status and what stderr said."""
    _, stderr = process.communicate(timeout=120)
    text = stderr.decode() if stderr else ""
    print(text, end="")
    return process.returncode, text


def failed_well(place, process, output="out", before=None) -> bool:
    """Status 2, one well-formed message, no output (or the old one), nothing temporary left."""
    status, text = finish(process)
    path = place.work / output
    problem = run.message_problem(text)
    if problem:
        print("   ", problem)
    return report(
        status_is_2=status == 2, message_is_well_formed=problem is None,
        nothing_temporary_is_left=not place.leftovers(),
        no_output_has_appeared=path.read_bytes() == before if before is not None else not path.exists(),
        no_other_file_has_appeared=not [name for name in os.listdir(place.work) if "gsort" in name or name[0] == "."])


def in_own_mounts(place, mount: str, script: str) -> subprocess.CompletedProcess:
    """Runs a script after the command `mount`; skips where the kernel refuses that."""
    enter = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    if place.bash(shlex.join([*enter, "bash", "-c", mount])).returncode:
        skip("nothing can be mounted here")
    return place.bash(shlex.join([*enter, "bash", "-c", f"{mount} && {script}"]))


def bytes_read(process) -> int:
    text = Path(f"/proc/{process.pid}/io").read_text()
    return int(re.search(r"^rchar: (\d+)", text, re.M)[1])


def wait_until(process, condition) -> bool:
    """Whether the condition came true while the process ran."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if condition():
                return True
        except (FileNotFoundError, ProcessLookupError, TypeError):
            pass
        time.sleep(0.001)
    return False


def wait_until_still(process) -> bool:
    """Whether the process came to wait for somebody else: in 50 looks in a row, all its threads are asleep."""
    tasks, looks = Path(f"/proc/{process.pid}/task"), []
    return wait_until(process, lambda: looks.append(
        {(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks.iterdir()}) or looks[-50:] == [{"S"}] * 50)


def on_terminal(place, *arguments, stream: str) -> tuple[int, bytes, bytes]:
    """Runs gsort with "stdout" or "stderr" at a terminal: status, what the terminal showed, the other stream."""
    ours, theirs = pty.openpty()
    other = "stderr" if stream == "stdout" else "stdout"
    process = start(place, *arguments, **{stream: theirs, other: subprocess.PIPE})
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError as problem:
            if problem.errno != errno.EIO:
                raise
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    rest = getattr(process, other).read()
    process.stderr and process.stderr.close()
    return process.wait(timeout=60), shown, rest


@scenario
def a_bare_call_at_a_terminal_names_the_help(place):
    master, slave = pty.openpty()
    process = start(place, stdin=slave)
    status, message = finish(process)
    os.close(slave)
    os.close(master)
    return report(it_fails=status == 2, it_says_why="it is a terminal, and no FILE is named" in message,
                  the_hint_names_the_help="gsort -h" in message)


@scenario
def binary_is_not_written_to_a_terminal(place):
    place.bash("gsort-gen -n 1000 -o in")
    status, shown, message = on_terminal(place, "in", stream="stdout")
    print(message.decode(), end="")
    return report(status_is_2=status == 2, nothing_is_shown=shown == b"",
                  message_is_well_formed=run.message_problem(message.decode()) is None,
                  message_names_the_way_out=b"-o -" in message)


@scenario
def binary_is_written_to_a_terminal_that_is_asked_for(place):
    place.bash("gsort-gen -t u8 -d all-maximum -n 100 -o in.u8")
    status, shown, _ = on_terminal(place, "in.u8", "-o", "-", stream="stdout")
    return report(status_is_0=status == 0, all_is_shown=shown == b"\xff" * 100)


@scenario
def a_summary_is_the_last_line_at_a_terminal(place):
    place.bash("gsort-gen -n 100000 -o in")
    status, shown, rest = on_terminal(place, "in", "-o", "out", stream="stderr")
    print(shown)
    lines = shown.decode().strip().splitlines()
    return report(status_is_0=status == 0, stdout_is_empty=rest == b"", there_is_a_last_line=bool(lines),
                  it_says_what_was_done=bool(lines) and lines[-1].startswith("sorted "),
                  it_says_that_the_result_is_proved=bool(lines) and "verified" in lines[-1])


@scenario
def quiet_says_nothing_at_a_terminal(place):
    place.bash("gsort-gen -n 1000 -o in")
    status, shown, _ = on_terminal(place, "-q", "in", "-o", "out", stream="stderr")
    return report(status_is_0=status == 0, nothing_is_shown=shown == b"")


def while_reading(place, change) -> bool:
    """Starts a sort of a large file, calls change(path) while it is being read, and expects a clean failure."""
    path = place.work / "in.u64"
    place.bash("truncate -s 1G in.u64")
    process = start(place, "-S", "64M", "--parallel=1", "in.u64", "-o", "out")
    if not wait_until(process, lambda: bytes_read(process) > 8 * MIB):
        process.communicate()
        skip("the file was read before it could be changed")
    process.send_signal(signal.SIGSTOP)
    read = bytes_read(process)
    change(path)
    process.send_signal(signal.SIGCONT)
    if read > 900 * MIB:
        process.communicate()
        skip("the file was read before it could be changed")
    return failed_well(place, process)


@scenario
def an_input_that_shrinks_while_it_is_read(place):
    return while_reading(place, lambda path: os.truncate(path, 900 * MIB))


@scenario
def an_input_that_loses_part_of_an_element_while_it_is_read(place):
    return while_reading(place, lambda path: os.truncate(path, 950 * MIB + 3))


@scenario
def an_input_that_grows_while_it_is_read(place):
    return while_reading(place, lambda path: os.truncate(path, 1100 * MIB))


def spilled_files(place, process) -> list[tuple[str, int]]:
    """The descriptors that the process holds on files under $TMPDIR, and how many bytes each has."""
    found = []
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        target = os.readlink(link)
        if target.startswith(str(place.tmp)):
            size = os.stat(link).st_size
            if size > 0:
                found.append((str(link), size))
    return found


@scenario
def a_run_that_rots_on_the_disk_is_noticed(place):
    process = start(place, "-t", "u64", "-S", "32M", "-o", "out", feed=place.bash_bytes("gsort-gen -t u64 --size 96M"))
    if not wait_until(process, lambda: sum(size for _, size in spilled_files(place, process)) > 4 * MIB):
        process.kill()
        return report(runs_are_spilled_to_TMPDIR=False)
    # While gsort waits for more input, one bit turns in the middle of what was spilled.
    wait_until_still(process)
    link, size = max(spilled_files(place, process), key=lambda found: found[1])
    with open(link, "r+b") as file:
        file.seek(size // 2)
        byte = file.read(1)
        file.seek(size // 2)
        file.write(bytes([byte[0] ^ 4]))
    return failed_well(place, process)


@scenario
def explain_does_not_wait_for_a_pipe(place):
    process = start(place, "--explain", "-t", "u64", "-o", "out", stdin=subprocess.PIPE)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        return report(it_ends_while_the_pipe_is_open=False)
    return report(status_is_0=process.returncode == 0, the_type_is_shown=b"u64" in process.stdout.read(),
                  nothing_was_written=not (place.work / "out").exists())


def killed_by(place, number) -> bool:
    (place.work / "out").write_bytes(b"old")
    process = start(place, "-t", "u64", "-S", "32M", "-o", "out", feed=bytes(96 * MIB))
    time.sleep(0.3)
    process.send_signal(number)
    status, _ = finish(process)
    return report(it_dies_by_the_signal=status == -number, nothing_temporary_is_left=not place.leftovers(),
                  the_old_output_stays=(place.work / "out").read_bytes() == b"old",
                  no_other_file_has_appeared=os.listdir(place.work) == ["out"])


@scenario
def interrupted_it_leaves_nothing(place):
    return killed_by(place, signal.SIGINT)


@scenario
def terminated_it_leaves_nothing(place):
    return killed_by(place, signal.SIGTERM)


@scenario
def even_killed_it_leaves_nothing(place):
    return killed_by(place, signal.SIGKILL)


@scenario
def a_reader_that_leaves_is_trouble_where_that_is_no_signal(place):
    place.bash("gsort-gen -t u32 --size 16M -o in.u32")
    ours, theirs = os.pipe()
    os.close(ours)
    process = start(place, "in.u32", stdout=theirs, restore_signals=False)  # Python ignores SIGPIPE
    os.close(theirs)
    status, text = finish(process)
    return report(status_is_2=status == 2, message_is_well_formed=run.message_problem(text) is None)


# The kernel counts the memory of the forking process as the child's peak, so a small Python forks.
PEAK_OF = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def peak_mib(place, *arguments, wanted="0") -> float:
    done = place.bash(shlex.join([sys.executable, "-c", PEAK_OF, str(place.gsort), *arguments]))
    status, kib = done.stdout.split()
    print(done.stderr, end="")
    return int(kib) / 1024 if status == wanted else float("inf")


def is_instrumented(binary: Path) -> bool:
    content = binary.read_bytes()
    return b"__asan_init" in content or b"__tsan_init" in content


@scenario
def memory_stays_within_what_was_given(place):
    if is_instrumented(place.gsort):
        skip("a sanitizer's own memory would be counted")
    place.bash("gsort-gen -t u32 --size 72M -o in.u32; gsort-gen -t u64 -d zipf --size 72M -o in.u64")
    checks = {}
    for given in (32, 64):
        for name in ("in.u32", "in.u64"):
            peak = peak_mib(place, f"-S{given}M", "--engine=cpu", name, "-o", "out")
            print(f"    -S {given}M {name}: {peak:.0f} MiB")
            checks[f"{name} sorts within {given} MiB"] = peak <= given
    place.bash("mkdir many; gsort -S 16M --form=runs --share=0/1 in.u64; for i in $(seq 0 47); do "
               "gsort -S 6M --form=many/$i --share=$i/48 in.u64; done")
    many = ",".join(f"many/{share}" for share in range(48))
    rounds = place.bash(f"gsort -S 6M --explain --take=0/1 --from={many} -o out | grep -c ' rounds* of merging'").stdout
    peak = peak_mib(place, "-S6M", "--engine=cpu", "--take=0/1", f"--from={many}", "-o", "out")
    print(f"    -S 6M --take=0/1 in rounds: {peak:.0f} MiB")
    checks["a part is merged in rounds within 24 MiB"] = rounds == "1\n" and peak <= 24
    peak = peak_mib(place, "-S24M", "--engine=cpu", "--take=0/1", "--from=runs", "-o", "out")
    print(f"    -S 24M --take=0/1: {peak:.0f} MiB")
    checks["a part of many runs is merged within 24 MiB"] = peak <= 24
    return report(**checks)


@scenario
def real_integers_of_this_system_are_sorted(place):
    subprocess.run([DUMP_SYSTEM, "real", "--library-bytes", str(16 * MIB)], cwd=place.work, check=True)
    checks = {}
    for path in sorted((place.work / "real").iterdir()):
        name, kind = path.name, path.suffix[1:]
        done = place.bash(f"""
            gsort real/{name} -o sorted &&
            reference-sort {kind} < real/{name} | cmp - sorted &&
            gsort -S 4M -r real/{name} -o sorted &&
            reference-sort {kind} descending < real/{name} | cmp - sorted""")
        print(done.stdout + done.stderr, end="")
        checks[f"{name} equals std::sort's"] = done.returncode == 0
    return report(**checks)


@scenario
def sigusr1_asks_for_a_status_line(place):
    process = start(place, "-t", "u64", "-o", "out", feed=bytes(MIB))
    if not wait_until(process, lambda: bytes_read(process) > MIB // 2):
        return report(the_pipe_is_read=False)
    process.send_signal(signal.SIGUSR1)
    line = process.stderr.readline().decode()
    status, _ = finish(process)
    return report(status_is_0=status == 0, the_line_says_how_far_it_is=bool(
        re.fullmatch(r"gsort: reading: [\d.]+ (.i)?B, [\d.]+ (.i)?B/s\n", line)))


def sort_on_terminal(place, *arguments, ends_once, **variables) -> str:
    """The text of a terminal while a pipe feeds gsort, until `ends_once` is true, which gets the text so far and the
    seconds."""
    ours, theirs = pty.openpty()
    place.environment.update(variables)
    began = time.monotonic()
    process = start(place, "-t", "u64", "-o", "out", *arguments, feed=bytes(MIB), stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while True:
            if select.select([ours], [], [], 0.05)[0]:
                shown += (piece := os.read(ours, 65536))
                if not piece:
                    break
            if not process.stdin.closed and ends_once(shown, time.monotonic() - began):
                process.stdin.close()
    except OSError as problem:  # Linux: no process has the terminal open any more
        if problem.errno != errno.EIO:
            raise
    os.close(ours)
    process.stdout.close()
    print(shown)
    return shown.decode() if process.wait(timeout=60) == 0 else ""


def two_seconds(_, seconds: float) -> bool:
    return seconds >= 2


@scenario
def a_status_line_is_written_over_at_a_terminal_and_then_wiped(place):
    began = time.monotonic()
    # However long a busy machine or a slow disk takes to show them.
    shown = sort_on_terminal(place, TERM="xterm",
                             ends_once=lambda shown, seconds: shown.count(b"reading: ") >= 2 or seconds >= 60)
    seconds = time.monotonic() - began
    before, _, after = shown.rpartition("\r\x1b[K")
    lines = before.split("\r\x1b[K")[1:]
    phases = ("reading: ", "merging: ", "writing: ", "syncing: ")
    return report(there_are_lines=len(lines) >= 2, the_first_says_how_far_it_is=before[4:].startswith("reading: "),
                  so_do_all=all(line.startswith(phases) for line in lines),
                  they_are_few=len(lines) <= 1 + seconds / 0.17,
                  none_ends="\n" not in before,
                  the_summary_comes_last=after.startswith("sorted ") and "verified\x1b[0m" in after)


@scenario
def a_dumb_terminal_shows_no_status_line(place):
    shown = sort_on_terminal(place, TERM="dumb", ends_once=two_seconds)
    return report(only_the_summary_is_shown=shown.startswith("sorted ") and "\x1b" not in shown)


@scenario
def no_color_is_heard_at_a_terminal(place):
    place.environment["TERM"] = "xterm"
    _, colored, _ = on_terminal(place, "no-such-file", stream="stderr")
    place.environment["NO_COLOR"] = "1"
    _, plain, _ = on_terminal(place, "no-such-file", stream="stderr")
    _, asked_for, _ = on_terminal(place, "--color=always", "no-such-file", stream="stderr")
    return report(without_it_messages_are_colored=b"\x1b[" in colored, with_it_they_are_not=b"\x1b" not in plain,
                  the_command_line_is_stronger=b"\x1b[" in asked_for)


@scenario
def quiet_shows_no_status_line(place):
    ours = sort_on_terminal(place, "-q", TERM="xterm", ends_once=two_seconds)
    return report(nothing_is_shown=ours == "")


@scenario
def a_trace_can_be_drawn(place):
    place.bash("gsort-gen -t u64 --size 96M -o in.u64; gsort -S 32M --trace=t.json --stats=s.json in.u64 -o out")
    drawn = place.bash("gsort-plot t.json s.json")
    told = {name: place.bash(f"gsort-plot --text {name}.json").stdout for name in "st"}
    colors = {element.get("fill") for element in ElementTree.fromstring(drawn.stdout).iter()}
    print(drawn.stderr, *told.values(), end="")
    busy = {name: re.findall(r"^ +(\w+)  [#.]* +([0-9.]+) s", text, re.M) for name, text in told.items()}
    return report(reading_and_merging_are_shown={"#0072b2", "#e69f00"} <= colors,
                  the_drawing_is_small=len(drawn.stdout) < MIB, all_stages_are_told=len(busy["s"]) >= 9,
                  spans_add_up_to_what_gsort_says=[stage for stage, _ in busy["s"]] == [stage for stage, _ in busy["t"]] and
                  all(abs(float(a) - float(b)) < 0.02 for (_, a), (_, b) in zip(busy["s"], busy["t"])))
