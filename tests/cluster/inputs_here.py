"""Cases of sorts.py with --inputs-here: each process has inputs under the same names in a folder of its own."""

import random
import shutil
import struct
from pathlib import Path

from bed import Bed, keys, npy


def command(bed: Bed, processes: int, *words: str) -> list[str]:
    """Each process names all files of the folder `in` of its host."""
    return [bed.mpirun, "-n", str(processes), "sh", "-c",
            'cd "$FOLDERS/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && program=$1 && shift && exec "$program" in/* "$@"', "sh",
            str(bed.gsort_mpi), "--inputs-here", *words]


def lay_out(bed: Bed, contents: list[list[bytes]]) -> list[str]:
    """Writes the files of each host, and returns their names by rank."""
    inputs = []
    for rank, files in enumerate(contents):
        folder = bed.folder / "hosts" / str(rank) / "in"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for number, content in enumerate(files):
            (folder / f"{number}.dat").write_bytes(content)
            inputs.append(str(folder / f"{number}.dat"))
    return inputs


def read_inputs_here(bed: Bed) -> None:
    """Each process has inputs under the same names in a folder of its own, and names as many as there are."""
    rng = random.Random(12)

    def expect(what: str, processes: int, contents: list[list[bytes]], *options: str) -> None:
        inputs = lay_out(bed, contents)
        bed.run([str(bed.gsort), *options, *inputs, "-o", "expected"]).check_returncode()
        wanted = (bed.folder / "expected").read_bytes()
        done = bed.run(command(bed, processes, *options, "-o", str(bed.folder / "out")))
        if done.returncode != 0 or (bed.folder / "out").read_bytes() != wanted:
            bed.fail(f"{what} in inputs of {processes} processes", done)
        done = bed.run(command(bed, processes, "--parts", *options, "-o", "out-{rank}"))
        parts = [bed.folder / "hosts" / str(rank) / f"out-{rank}" for rank in range(processes)]
        if done.returncode != 0 or b"".join(part.read_bytes() for part in parts) != wanted:
            bed.fail(f"parts of {what} in inputs of {processes} processes", done)
        for part in parts:
            part.unlink(missing_ok=True)

    for processes in bed.some((1, 2, 3, 4), 2):
        contents = [[keys("few", "Q", rng.choice([0, 3, 20_000]), rng) for _ in range(rng.randrange(1, 4))]
                    for _ in range(processes)]
        for what, *options in bed.some((("u64", "-t", "u64", "-S", "40M"), ("narrow keys", "-t", "i16", "-r"),
                                        ("the first keys", "-t", "u64", "--top=9999"), ("distinct keys", "-t", "u64", "-u")), 2):
            expect(what, processes, contents, *options)
        records = [[b"".join(rng.choice([b"a", b"b"]) + rng.randbytes(11) for _ in range(rng.randrange(5_000)))]
                   for _ in range(processes)]
        expect("records", processes, records, "--record=12", "--key=0:bytes1")
    lay_out(bed, [[npy("<u8", 1, bytes(8))], [npy("<f8", 1, bytes(8))]])
    done = bed.run(command(bed, 2, "--format=npy", "-o", "out.npy"))
    if done.returncode == 0 or "comparing the elements of the inputs: u64" not in done.stderr:
        bed.fail("inputs of other elements on another host", done)
    lay_out(bed, [[bytes(8)], [bytes(16)]])
    done = bed.run(command(bed, 2, "-o", "out"))
    if done.returncode == 0 or "option --inputs-here: needs a type of the elements" not in done.stderr:
        bed.fail("--inputs-here without a type", done)
    of_other = lay_out(bed, [[bytes(80)], [bytes(160)]])[1]
    done = bed.run(command(bed, 2, "-t", "u64", f"--stats={of_other}", "-o", str(bed.folder / "out")))
    if done.returncode == 0 or "(rank 1): --stats " not in done.stderr or Path(of_other).read_bytes() != bytes(160):
        bed.fail("--stats over an input of another process", done)
    done = bed.run(command(bed, 2, "-t", "u64", f"--resume={bed.folder / 'runs'}", "-o", of_other))
    if done.returncode == 0 or "--resume cannot replace one of several" not in done.stderr or Path(of_other).read_bytes() != bytes(160):
        bed.fail("--resume over an input of another process", done)
    inputs = lay_out(bed, [[keys("few", "Q", 500, rng)], [keys("few", "Q", 700, rng)]])
    wanted = sorted(struct.unpack("<1200Q", b"".join(Path(name).read_bytes() for name in inputs)))
    done = bed.run([bed.mpirun, "-n", "2", "sh", "-c",
                    'exec "$0" --inputs-here "$FOLDERS/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}/in/0.dat" "$@"',
                    str(bed.gsort_mpi), "-t", "u64", "-S", "40M", "-o", inputs[1]])
    if done.returncode != 0 or Path(inputs[1]).read_bytes() != struct.pack("<1200Q", *wanted):
        bed.fail("an output with the name of an input of one process", done)


def check_inputs_here(bed: Bed) -> None:
    """-c, --fingerprint and --expect say of the inputs of all hosts what gsort says of one file of them."""
    rng = random.Random(15)
    for case in range(3):
        numbers = [rng.randrange(3_000) for _ in range([4, 3_000, 2_000][case])]
        numbers = sorted(set(numbers) if case % 2 else numbers)
        if case == 2 and numbers:  # a disorder somewhere
            numbers[rng.randrange(len(numbers))] = rng.choice([0, 3_000])
        borders = sorted(rng.randrange(len(numbers) + 1) for _ in range(3))
        shares = [numbers[a:b] for a, b in zip([0, *borders], [*borders, len(numbers)])]
        lay_out(bed, [[struct.pack(f"<{len(share)}Q", *share)] for share in shares])
        whole = bed.write("whole.u64", struct.pack(f"<{len(numbers)}Q", *numbers))
        for words in bed.some((["-c"], ["-c", "-u"], ["--fingerprint", "--expect", "1:" + "0" * 16 + ":" + "0" * 16]), 1):
            wanted = bed.run([str(bed.gsort), "-t", "u64", *words, whole])
            done = bed.run(command(bed, 4, "-t", "u64", *words))
            told = "".join(line for line in done.stderr.splitlines(keepends=True) if line.startswith("gsort: "))
            named = [text.replace("whole.u64", "inputs of 4 processes") for text in (wanted.stdout, wanted.stderr)]
            if (done.returncode, done.stdout, told) != (wanted.returncode, *named):
                bed.fail(f"{' '.join(words)} of inputs of 4 processes: not what gsort says, {wanted}", done)
