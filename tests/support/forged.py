"""Changes fields of files that gsort reads back, as somebody could who knows their formats, and makes the checksums right:
manifests and run indexes (io/runs/manifest.hpp), and records of parts (pipeline/share/part_record.hpp)."""

import struct
from pathlib import Path
from random import Random

HEADER = struct.Struct("<4sHHQQQQIIIIQ")  # of a manifest
RUN_BYTES = {2: 56, 4: 64, 5: 56}  # by version
ENTRY_BYTES = 32  # of a block in an index
MASK = (1 << 64) - 1
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
