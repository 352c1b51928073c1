"""The sorts of tools/soak by several processes: --form, --take and --join, in any order and repeated, killed and with calls
that fail; and with changed manifests, runs and records."""

import shutil
import signal
import sys
from pathlib import Path

import forged
import run
import verdicts

SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
OLD = b"what was there before"
FORGED_MIB = 32  # -S of commands that read changed files
# The kernel counts the memory of the forking process as the child's peak, so a small Python forks.
PEAK_OF = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open("peak", "w"))
sys.exit(status if status >= 0 else 100 - status)"""


class Wrong(Exception):
    pass


def require_well_ended(status: int, message: str, problem_of=lambda message: None):
    """Requires that a command which succeeds prints nothing, and that any other one prints its reason."""
    if status == 0 and message:
        raise Wrong(f"status 0, and yet a message: {message!r}")
    if status not in (0, 2):
        raise Wrong(f"status {status}: {message!r}")
    problem = status == 2 and (run.message_problem(message) or problem_of(message))
    if problem:
        raise Wrong(f"{problem}: {message!r}")


def no_problem(message: str) -> str | None:
    return None if verdicts.is_refusal(message) else "nothing was to go wrong"


class ShareJob:
    """The case's sort by several processes, in a subfolder of the case's folder."""

    def __init__(self, case):
        self.case, self.input, self.pick = case, case.input, case.random
        given, pick = self.input, self.pick
        self.inputs_here = not self.can_be_shared(given) or (given.shuffle is None and len(given.names) > 1 and pick.random() < 0.3)
        self.shares = len(given.names) if self.inputs_here else pick.randint(1, 4)
        self.parts = pick.randint(1, 4)
        must_be_own = given.unique or given.out_form == "text" or given.out_codec
        self.has_own_files = bool(must_be_own or pick.random() < 0.3)

    @staticmethod
    def suits(given) -> bool:
        return not (given.array is not None or given.top is not None or given.merge or given.argsort or given.each
                    or any(given.around)) and (given.shuffle is None or ShareJob.can_be_shared(given))

    @staticmethod
    def can_be_shared(given) -> bool:
        """Whether shares can be ranges of the inputs; else each has inputs of its own."""
        return given.form != "text" and all(name.endswith((".raw", ".npy")) for name in given.names)

    def format_words(self, form: str) -> list[str]:
        return [f"--format={form}"] if (self.input.form, self.input.out_form) != ("bin", "bin") else []

    def form(self, share: int) -> str:
        given = self.input
        words = [*given.element_options(), *["--endian=big"] * given.big, *["-r"] * (given.reverse and given.shuffle is None),
                 *[f"--shuffle={given.shuffle}"] * (given.shuffle is not None),
                 *self.format_words(given.form), *["--inputs-here"] * self.inputs_here,
                 f"--form=shares/r{share}", f"--share={share}/{self.shares}"]
        return " ".join(["gsort", *words, self.resources(), *(given.names[share:share + 1] if self.inputs_here else given.names)])

    def take(self, part: int, folder="shares", resources=None) -> str:
        given = self.input
        counts = [] if given.min_count is None else ["--count", f"--min-count={given.min_count}"]
        words = [f"--take={part}/{self.parts}", "--from=" + ",".join(f"{folder}/r{share}" for share in range(self.shares)),
                 *["-u"] * given.unique, *counts, *self.format_words(f"{given.form}:{given.out_form}"),
                 *([f"--compress={given.out_codec}"] if given.out_codec else [])]
        resources = resources or f"{self.resources()} {self.pick.choice(['', '-T tmp', '--batch-size=2'])}"
        return " ".join(["gsort", *words, resources, self.output_words(folder)])

    def join(self, folder="shares") -> str:
        return f"gsort --join={self.parts} {self.output_words(folder)}"

    def output_words(self, folder: str) -> str:
        return f"-o {folder}/out{'-{}' if self.has_own_files else ''}"

    def resources(self) -> str:
        pick = self.pick
        return " ".join(pick.sample([f"--parallel={pick.choice([1, 2, 3])}", f"--direct-io={pick.choice(['auto', 'on', 'off'])}",
                                     f"-S {pick.choice([4, 8, 16, 64])}M", f"--pack-runs={pick.choice(['auto', 'on', 'off'])}"], 2))

    def outputs(self, folder="shares") -> list[Path]:
        names = [f"out-{part}" for part in range(self.parts)] if self.has_own_files else ["out"]
        return [self.case.folder / folder / name for name in names]

    def sort(self, faults: list):
        folder = self.case.folder / "shares"
        folder.mkdir()
        for output in self.outputs():
            output.write_bytes(OLD)
        forms = [self.form(share) for share in range(self.shares)]
        takes = [self.take(part) for part in range(self.parts)]
        for step in forms, takes, [self.join()]:
            commands = step + self.pick.choices(step, k=self.pick.randint(0, 2))
            self.pick.shuffle(commands)
            for command in commands:
                self.give(command, faults)
            if step is takes:
                self.require_old(self.outputs())
                self.sort_forged()
        self.require_right(self.outputs())
        known = {path.name for path in self.outputs()} | {f".{path.name}.gsort-joined" for path in self.outputs()}
        left = {path.name for path in folder.iterdir()} - known - {f"r{share}" for share in range(self.shares)}
        if left or any((self.case.folder / "tmp").iterdir()):
            raise Wrong(f"left behind: {left}")
        shutil.rmtree(folder)

    def give(self, command: str, faults: list):
        """Kills some attempts, or lets a call of theirs fail; the last attempt must complete."""
        kill = self.pick.choice([None, None, *SIGNALS])
        if kill:
            status, message = self.case.call(command, kill=kill)
            if status != -kill:
                require_well_ended(status, message, no_problem)
        if faults and self.pick.random() < 0.5:
            fault = self.pick.choice(faults)
            status, message = self.case.call(command, fault.text(int(2 ** self.pick.uniform(0, 9))))
            # A record that cannot be opened is another user's, and so is ignored.
            is_ignored = (fault.call, fault.action) == ("open", "EACCES") and message.startswith("gsort: joining the parts of ")
            require_well_ended(status, message, lambda text: not is_ignored and no_problem(text) and
                               verdicts.problem_of(text, fault, False))
        status, message = self.case.call(command)
        least = verdicts.least_named(message)
        if status == 2 and least and "-S " in command and not no_problem(message):
            words = command.split()
            words[words.index("-S") + 1] = least
            status, message = self.case.call(" ".join(words))
        require_well_ended(status, message, lambda text: "nothing was to go wrong")

    def sort_forged(self):
        """Takes and joins with a changed file: each succeeds, or ends with a message and no output, within its memory."""
        folder = self.case.folder / "forged"
        shutil.copytree(self.case.folder / "shares", folder)
        records = [path for path in folder.iterdir() if ".gsort-part-" in path.name and path.stat().st_size < 1 << 16]
        says_more = False
        if self.pick.random() < 0.3 and records:
            forged.forge_record(self.pick.choice(records), self.pick)
        else:
            says_more = forged.forge_manifest(folder / f"r{self.pick.randrange(self.shares)}", self.pick)
            for path in folder.glob(".*"):
                path.unlink()
        outputs = self.outputs("forged")
        limits = f"-S {FORGED_MIB}M --parallel=2 -T tmp"
        for command in [*(self.take(part, "forged", limits) for part in range(self.parts)), self.join("forged")]:
            status, message = self.case.call(command, enter=[sys.executable, "-c", PEAK_OF])
            peak = int((self.case.folder / "peak").read_text()) / 1024
            require_well_ended(status, message)
            if peak > FORGED_MIB:
                raise Wrong(f"it takes {peak:.1f} MiB, -S was {FORGED_MIB}M")
        if status == 2:
            self.require_old(outputs)
        elif not says_more:
            self.require_right(outputs)
        (self.case.folder / "peak").unlink()
        shutil.rmtree(folder)

    def require_old(self, outputs: list[Path]):
        if not all(path.exists() and path.read_bytes() == OLD for path in outputs):
            raise Wrong("there is an output that was not joined")

    def require_right(self, outputs: list[Path]):
        try:
            elements = b"".join(self.input.read_back(path.read_bytes()) for path in outputs)
        except ValueError as problem:
            raise Wrong(f"joined: {problem}") from None
        if elements != self.case.wanted[0]:
            raise Wrong(f"joined: {len(elements)} bytes, not the {len(self.case.wanted[0])} that are right")
