"""The forms that files of keys come in, written and read here without gsort: text, .npy, and what compressors make.

Invalid data raises ValueError, whatever its fault."""

import ast
import bz2
import gzip
import lzma
import math
import re
import shutil
import struct
import subprocess
import zlib
from array import array
from itertools import groupby

# The key types that gsort has (cli.random_jobs compares the names), as struct writes their numbers; bf16, which it does
# not know, as the upper half of an f32, and numbers of 128 bits in two halves.
TYPES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q",
         "f32": "f", "f64": "d", "time64": "q", "f16": "e", "bf16": "H", "u128": "QQ", "i128": "qq"}

# For floats: the bits of the fraction, and the digits that distinguish all numbers.
FLOATS = {"f16": (10, 5), "bf16": (7, 4), "f32": (23, 9), "f64": (52, 17)}


def columns_of(kind: str) -> tuple[str, int] | None:
    """For a table, the type and the number of its columns: "u32x4" has rows of four u32. Else None."""
    name, times, columns = kind.partition("x")
    return (name, int(columns)) if times else None


def bytes_of(kind: str) -> int:
    if table := columns_of(kind):
        return table[1] * bytes_of(table[0])
    return int(kind[5:]) if kind.startswith("bytes") else struct.calcsize("=" + TYPES[kind])


def is_float(kind: str) -> bool:
    return kind in FLOATS


def npy_kind(kind: str) -> str:
    return "V" if kind == "bf16" or "128" in kind else "f" if is_float(kind) else "u" if TYPES[kind].isupper() else "i"


def has_dtype(kind: str) -> bool:
    """Whether an array's header can say the type and not only what its numbers are."""
    return bool(re.fullmatch(r"[uif](8|16|32|64)|time64|bytes\d+", kind))


def ordered(raw: bytes, kind: str, big: bool, by_bits: bool = False) -> bytes:
    """Bytes whose order is that of the keys; with by_bits, equal floats are ordered by their bits."""
    if kind.startswith("bytes"):
        return raw
    number, sign = int.from_bytes(raw, "big" if big else "little"), 1 << (8 * len(raw) - 1)
    if is_float(kind):
        magnitude, is_negative = number & sign - 1, number & sign
        is_nan = magnitude > sign - (1 << FLOATS[kind][0])
        tie = (2 * sign - magnitude if is_negative else magnitude) if is_nan else 0 if is_negative else 1
        number = 2 * sign - 1 if is_nan else sign - magnitude if is_negative else sign + magnitude
        return number.to_bytes(len(raw), "big") + (tie.to_bytes(len(raw), "big") if by_bits else b"")
    elif kind == "time64":
        number = (number ^ sign) - 1 & 2 * sign - 1
    elif TYPES[kind].islower():
        number ^= sign
    return number.to_bytes(len(raw), "big")


def through_zstd(*options: str):
    def run(data: bytes) -> bytes:
        done = subprocess.run(["zstd", "-q", *options], input=data, capture_output=True)
        if done.returncode != 0:
            raise ValueError(done.stderr.decode())
        return done.stdout
    return run


# name: suffix, how to compress, how to decompress
CODECS = {"gzip": (".gz", lambda data: gzip.compress(data, 1), gzip.decompress),
          "bzip2": (".bz2", bz2.compress, bz2.decompress),
          "xz": (".xz", lambda data: lzma.compress(data, preset=0), lzma.decompress)}
if shutil.which("zstd"):
    CODECS["zstd"] = (".zst", through_zstd("-1"), through_zstd("-dc"))


def decompressed(data: bytes, codec: str) -> bytes:
    try:
        return CODECS[codec][2](data) if codec else data
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as problem:
        raise ValueError(f"no {codec} data: {problem}") from None


def alike(raw: bytes, kind: str, big: bool) -> bytes:
    """The floats, equal ones as one number: 0 and NaN without a sign."""
    return one_nan(raw, kind, big, has_sign=False)


def one_nan(raw: bytes, kind: str, big: bool, has_sign: bool = True) -> bytes:
    """The keys with the one NaN of each sign that text knows."""
    if not is_float(kind):
        return raw
    size, (fraction, _) = bytes_of(kind), FLOATS[kind]
    keys = array({2: "H", 4: "I", 8: "Q"}[size], raw)
    if big:
        keys.byteswap()
    sign, quiet = 1 << (8 * size - 1), 1 << (fraction - 1)
    infinity = sign - (1 << fraction)
    for i, key in enumerate(keys):
        if key & ~sign > infinity:
            keys[i] = key & sign * has_sign | infinity | quiet
        elif key == sign and not has_sign:
            keys[i] = 0
    if big:
        keys.byteswap()
    return keys.tobytes()


def code_of(kind: str, big: bool, count: int) -> str:
    return f"{'>' if big else '<'}{count}{TYPES[kind]}"


def numbers_of(raw: bytes, kind: str, big: bool) -> tuple:
    if "128" in kind:
        return tuple(int.from_bytes(raw[at:at + 16], "big" if big else "little", signed=kind == "i128")
                     for at in range(0, len(raw), 16))
    numbers = struct.unpack(code_of(kind, big, len(raw) // bytes_of(kind)), raw)
    if kind != "bf16":
        return numbers
    return struct.unpack(f"<{len(numbers)}f", b"".join(struct.pack("<HH", 0, number) for number in numbers))


def raw_of(numbers: list, kind: str, big: bool) -> bytes:
    if "128" in kind:
        return b"".join(number.to_bytes(16, "big" if big else "little", signed=kind == "i128") for number in numbers)
    if kind == "bf16":  # to the nearest, of two the even one
        wide = struct.unpack(f"<{len(numbers)}I", struct.pack(f"<{len(numbers)}f", *numbers))
        numbers = [number + 0x7fff + (number >> 16 & 1) >> 16 for number in wide]
    return struct.pack(code_of(kind, big, len(numbers)), *numbers)


def text_of(raw: bytes, kind: str, big: bool) -> bytes:
    if kind.startswith("bytes"):
        return b"".join(raw[at:at + bytes_of(kind)].hex().encode() + b"\n" for at in range(0, len(raw), bytes_of(kind)))
    numbers = numbers_of(raw, kind, big)
    if not is_float(kind):
        return b"".join(b"%d\n" % number for number in numbers)
    digits = FLOATS[kind][1]
    return b"".join(b"%.*g\n" % (digits, number) if number == number else
                    b"-nan\n" if math.copysign(1, number) < 0 else b"nan\n" for number in numbers)


def keys_of_text(text: bytes, kind: str, big: bool) -> bytes:
    if text and not text.endswith(b"\n"):
        raise ValueError("the last line has no end")
    lines = text.decode("ascii").split("\n")[:-1]
    if kind.startswith("bytes"):
        if not all(re.fullmatch(r"[0-9a-f]+", line) and len(line) == 2 * bytes_of(kind) for line in lines):
            raise ValueError(f"a line is no key of {kind}")
        return bytes.fromhex("".join(lines))
    if not all(re.fullmatch(r"[-+.0-9a-z]+", line) for line in lines):
        raise ValueError("a line is no number")
    try:
        numbers = [float(line) if is_float(kind) else int(line) for line in lines]
        return raw_of(numbers, kind, big)
    except (struct.error, OverflowError) as problem:
        raise ValueError(f"a number is none of {kind}: {problem}") from None


def order_of(kind: str, big: bool) -> str:
    """The sign of the byte order in a dtype."""
    return "|" if bytes_of(kind) == 1 or kind == "bf16" or kind.startswith("bytes") else ">" if big else "<"


def array_of(raw: bytes, kind: str, big: bool, by_columns: bool = False) -> bytes:
    """A .npy file of keys; if the kind is bytesN, of texts of N bytes, or of longer records; if it is u32x4, of a table with
    rows of four u32, which by_columns stores in Fortran order."""
    size, rows, columns = bytes_of(kind), len(raw) // bytes_of(kind), ""
    if table := columns_of(kind):
        kind, columns = table[0], f" {table[1]}"
        if by_columns:
            width = bytes_of(kind)
            raw = b"".join(raw[at:at + width] for column in range(table[1]) for at in range(column * width, len(raw), size))
    order = order_of(kind, big)
    if kind.startswith("bytes"):
        descr = f"'|S{bytes_of(kind)}'" if columns or size <= 32 else f"[('all', '|V{size}')]"
    else:
        descr = repr(order + ("M8[s]" if kind == "time64" else npy_kind(kind) + str(bytes_of(kind))))
    text = f"{{'descr': {descr}, 'fortran_order': {by_columns}, 'shape': ({rows},{columns}), }}".ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + raw


def keys_of_array(data: bytes, kind: str, big: bool) -> bytes:
    if data[:8] != b"\x93NUMPY\1\0" or len(data) < 10:
        raise ValueError("no .npy file of version 1")
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    try:
        header = ast.literal_eval(data[10:begin].decode("ascii"))
        descr, shape, by_columns = header["descr"], header["shape"], header["fortran_order"]
    except (SyntaxError, TypeError, KeyError) as problem:
        raise ValueError(f"the header of the .npy file cannot be read: {problem}") from None
    raw, size, wanted_shape = data[begin:], bytes_of(kind), (len(data[begin:]) // bytes_of(kind),)
    if len(raw) % size:
        raise ValueError(f"{len(raw)} bytes follow the header")
    if table := columns_of(kind):
        kind, wanted_shape = table[0], (*wanted_shape, table[1])
        size = bytes_of(kind)
    order = order_of(kind, big)
    of_records = kind.startswith("bytes") and not table
    letters = "iM" if kind == "time64" else "V" if of_records else "S" if kind.startswith("bytes") else npy_kind(kind)
    if of_records and descr not in ([("all", f"|V{size}")], f"|S{size}"):
        raise ValueError(f"the .npy file says {descr}")
    if not of_records and not re.fullmatch(rf"{re.escape(order)}[{letters}]{size}(\[\w+\])?", str(descr)):
        raise ValueError(f"the .npy file says {descr}")
    if shape != wanted_shape or by_columns:
        raise ValueError(f"the .npy file says {header}, {len(raw)} bytes follow")
    return raw


def counted(raw: bytes, kind: str, big: bool, least: int) -> bytes:
    """Each of the sorted keys that occurs so often, with its count in 64 bits."""
    size = bytes_of(kind)
    groups = ((key, sum(1 for _ in group)) for key, group in groupby(raw[at:at + size] for at in range(0, len(raw), size)))
    return b"".join(key + count.to_bytes(8, "big" if big else "little") for key, count in groups if count >= least)


def counts_of_text(text: bytes, kind: str, big: bool) -> bytes:
    pairs = [line.split(b"\t") for line in text.split(b"\n")[:-1]]
    if not all(len(pair) == 2 for pair in pairs):
        raise ValueError("a line is no count and key")
    raw, size = keys_of_text(b"".join(key + b"\n" for _, key in pairs), kind, big), bytes_of(kind)
    counts = keys_of_text(b"".join(count + b"\n" for count, _ in pairs), "u64", big)
    return b"".join(raw[i * size:(i + 1) * size] + counts[i * 8:(i + 1) * 8] for i in range(len(pairs)))


def counts_of_array(data: bytes, kind: str, big: bool) -> bytes:
    """The header is that of records with the two fields, but for how it calls the numbers of a key."""
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:begin].decode("ascii"))
    (key, dtype), (count, count_dtype) = header["descr"]
    if (key, count, count_dtype) != ("key", "count", ">u8" if big else "<u8"):
        raise ValueError(f"the .npy file says {header}")
    raw = data[begin:]
    size = bytes_of(kind) + 8
    if not dtype.startswith(order_of(kind, big)) or header["shape"] != (len(raw) // size,) or \
            len(raw) % size:
        raise ValueError(f"the .npy file says {header}, {len(raw)} bytes follow")
    return raw


COUNTS_FROM_FORM = {"bin": lambda data, *_: data, "text": counts_of_text, "npy": counts_of_array}
TO_FORM = {"bin": lambda raw, *_: raw, "text": text_of, "npy": array_of}
FROM_FORM = {"bin": lambda data, *_: data, "text": keys_of_text, "npy": keys_of_array}


# A second implementation of the order of gsort --shuffle.
_MASK = 2**64 - 1


def _mixed(x: int) -> int:
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & _MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & _MASK
    return x ^ x >> 31


def shuffled_order(seed: int, count: int) -> list[int]:
    """Which element comes first, second and so on."""
    keys = [_mixed(seed + i * 0x9e3779b97f4a7c15 & _MASK) for i in (1, 2, 3)]
    numbers = []
    for position in range(count):
        number = position
        for key in keys:
            number = _mixed(number ^ key)
        numbers.append(number)
    return sorted(range(count), key=numbers.__getitem__)
