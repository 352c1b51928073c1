"""Cases of sorts.py: bad commands end with one message before anything is read, and leave the old output."""

import os
import random
import shutil

from bed import Bed, keys, npy


def refuse(bed: Bed) -> None:
    """Runs each command as one process without a launcher, and some as several processes."""
    rng = random.Random(5)
    bed.write("in.u64", keys("random", "Q", 1000, rng))
    bed.write("in.txt", b"3\n1\n2\n")
    bed.write("odd.u64", b"123456789")
    bed.write("rows.npy", npy("<u2", "3, 2", bytes(12)))
    bed.write("old", b"the old output")
    os.mkfifo(bed.folder / "pipe.u64")
    of_several = (
        (["--parts", "--stats=old-2", "in.u64", "-o", "old-{rank}"], "--stats 'old-2': is also the output"),
        (["-S", "1M", "in.u64", "-o", "old"], "): -S 1 MiB: is too small for this sort"))
    refused = (
        (["in.u64"], "writing standard output: gsort-mpi cannot do this yet\n  name the output with -o\n"),
        (["-t", "u64", "-o", "old"], "reading standard input: gsort-mpi cannot do this yet"),
        (["pipe.u64", "-o", "old"], "reading the pipe or device pipe.u64: gsort-mpi cannot do this yet"),
        (["in.u64", "-o", "pipe.u64"], "writing the pipe or device pipe.u64: gsort-mpi cannot do this yet"),
        (["in.txt", "-t", "u64", "-o", "old"], "reading in.txt: gsort-mpi cannot read pipes, text or compressed files yet\n"
         "  use gsort on one machine, or its --form --inputs-here"),
        (["in.u64", "-o", "old.txt"], "writing text into one file old.txt: gsort-mpi cannot do this yet"),
        (["in.u64", "-o", "old.u64.zst"], "compressing into one file old.u64.zst: gsort-mpi cannot do this yet"),
        (["--format=bin:npy", "in.u64", "-o", "in.u64"], "replacing in.u64: it is read as bin, and would be written as npy"),
        (["-m", "in.u64", "-o", "old"], "option '-m': gsort-mpi does not have it yet"),
        (["--shuffle", "in.u64", "-o", "old"], "option --shuffle: needs SEED"),
        (["--shuffle=1", "--inputs-here", "in.u64", "-o", "old"], "options --shuffle and --inputs-here: cannot be combined"),
        (["--parts", "in.u64", "-o", "old"], "option --parts: needs --output with {rank} in the name, once"),
        (["--parts", "in.u64", "-o", "{rank}/{rank}"], "option --parts: needs --output with {rank} in the name, once"),
        (["in.u64", "-o", "old-{rank}"], "--output 'old-{rank}': has {rank} in the name, but --parts is not given"),
        (["--parts", "--fingerprint", "in.u64", "-o", "o{rank}"], "cannot be combined"),
        (["--parts", "in.u64", "-o", "nowhere/{rank}"], "nowhere"),
        (["-c", "in.u64", "in.u64"], "operand 'in.u64': cannot be given: --check of gsort-mpi takes one file"),
        (["--nonsense", "in.u64", "-o", "old"], "option '--nonsense': is unknown"),
        (["rows.npy", "-o", "old"], "sorting each row of an array: gsort-mpi cannot do this yet\n  add --key, as in --key=0,"),
        (["odd.u64", "-o", "old"], "odd.u64"), (["missing.u64", "-o", "old"], "missing.u64: No such file or directory"),
        (["in.u64", "-o", "nowhere/out"], "nowhere"), (["-T", "nowhere", "in.u64", "-o", "old"], "nowhere"),
        (["--engine=cpu", "--device=0,1", "in.u64", "-o", "old"], "cannot be combined"),
        (["--stats=old", "in.u64", "-o", "old"], "--stats 'old': is also the output"),
        (["--stats=in.u64", "in.u64", "-o", "old"], "): --stats 'in.u64': is also an input"))
    for command, reason in (*((bed.mpi(3, *words), reason) for words, reason in (*of_several, *bed.some(refused, 6))),
                            *(([str(bed.gsort_mpi), *words], reason.removeprefix("): ")) for words, reason in refused)):
        done = bed.run(command)
        messages = [line for line in done.stderr.splitlines() if line.startswith("gsort")]
        if done.returncode != 2 or len(messages) != 1 or reason not in done.stderr:
            bed.fail(f"refusing {' '.join(command)}", done)
        if (bed.folder / "old").read_bytes() != b"the old output" or bed.left_names():
            bed.fail(f"refusing {' '.join(command)}: changed or left something", done)
    done = bed.run(bed.mpi(2, "--engine=cuda", "--device=99", "in.u64", "-o", "old"))  # is nowhere
    if done.returncode != 2 or not any(words in done.stderr for words in ("--engine cuda: ", "--device 99: ")):
        bed.fail("--engine=cuda with a device that is not there", done)
    for words, wanted in bed.some(((["--help"], "--peer-timeout"), (["--version"], "gsort-mpi "),
                                   (["--generate=man"], ".TH GSORT")), 1):
        done = bed.run(bed.mpi(2, *words))
        if done.returncode != 0 or done.stdout.count(wanted) != 1:
            bed.fail(f"gsort-mpi {words[0]}", done)


def differ(bed: Bed) -> None:
    """Hosts that see other inputs under the same path."""
    for rank, count in ((0, 100), (1, 99)):
        (bed.folder / "hosts" / str(rank)).mkdir(parents=True, exist_ok=True)
        (bed.folder / "hosts" / str(rank) / "in.u64").write_bytes(bytes(8 * count))
    command = [bed.mpirun, "-n", "2", "sh", "-c",
               'cd "$FOLDERS/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"', "sh", str(bed.gsort_mpi), "in.u64", "-o", "out"]
    done = bed.run(command)
    if done.returncode != 2 or "comparing the bytes of the inputs: 800 on" not in done.stderr:
        bed.fail("inputs that differ between hosts", done)
    (bed.folder / "hosts" / "1" / "in.u64").write_bytes(bytes(800))
    shutil.copystat(bed.folder / "hosts" / "0" / "in.u64", bed.folder / "hosts" / "1" / "in.u64")
    done = bed.run(command)
    if done.returncode != 2 or "all hosts must see the folder of the output" not in done.stderr:
        bed.fail("output folders that differ between hosts", done)
