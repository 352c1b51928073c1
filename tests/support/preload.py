"""Libraries of the build that tests load into programs."""

import atexit
import functools
import re
import shutil
import tempfile
from pathlib import Path


@functools.cache
def preloadable(library: Path) -> Path:
    """The library, or a copy in /var/tmp that lives as long as this program: LD_PRELOAD is a list, which blanks and colons
    separate, and the hosts of tests have a /tmp of their own."""
    library = library.resolve()
    if not re.match(r"/tmp/|.*[\s:]", str(library)):
        return library
    folder = tempfile.mkdtemp(prefix="gsort-preloaded-", dir="/var/tmp")
    atexit.register(shutil.rmtree, folder)
    return Path(shutil.copy(library, folder))
