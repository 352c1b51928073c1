"""The contents of installed trees and packages, for run.py."""

import gzip
import re
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
# A user's environment: nothing that would lead a program to the build folder.
PLAIN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": ""}
# The address is set for a release (tools/release). CPack writes scripts that call ldconfig, beside the trigger. README.md links
# CHANGELOG.md. The library is in /usr/lib, not in a folder of its architecture. The packages are not for Debian's archive.
NO_FAULT = ("bogus-mail-host,bogus-mail-host-in-debian-changelog,maintscript-calls-ldconfig,wrong-name-for-upstream-changelog,"
            "pkg-config-unavailable-for-cross-compilation,initial-upload-closes-no-bugs")


def output_of(*command, **more) -> str:
    words = [str(word) for word in command]
    more = {"env": PLAIN, "timeout": 250, **more}
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def require(holds, what) -> None:
    if not holds:
        raise AssertionError(what)


def require_pages(usr: Path, zsh_folder: str, program: str = "gsort") -> None:
    """The manual page and the completions are what the installed program generates."""
    for path, form in {f"bash-completion/completions/{program}": "bash", f"zsh/{zsh_folder}/_{program}": "zsh",
                       f"fish/vendor_completions.d/{program}.fish": "fish"}.items():
        text = (usr / "share" / path).read_text()
        require(text == output_of(usr / "bin" / program, f"--generate={form}"), f"{path} is the completion for {form}")
    page = gzip.decompress((usr / f"share/man/man1/{program}.1.gz").read_bytes()).decode()
    require(page == output_of(usr / "bin" / program, "--generate=man"), f"{program}.1.gz is the manual page")


def require_links(usr: Path) -> None:
    """The links of installed pages lead to installed files."""
    links = [(page, link) for page in usr.glob("share/doc/**/*.md")
             for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()) if ":" not in link]
    missing = [f"{page}: {link}" for page, link in links if not (page.parent / link).exists()]
    require(links and not missing, f"{len(links)} links, of which lead nowhere: {missing}")


def require_lintian(packages: list[Path]) -> None:
    said = output_of("lintian", "--allow-root", "--fail-on=none", f"--suppress-tags={NO_FAULT}", *packages)
    require(not re.search("^[EW]: ", said, re.M), said)


def fields_of(package: Path) -> dict[str, str]:
    text = output_of("dpkg-deb", "--field", package)
    return dict(re.findall(r"^(\S+): (.*(?:\n .*)*)", text, re.M))


def shared_dependencies(binaries: list[Path], folder: Path) -> set[str]:
    """The packages that dpkg-shlibdeps finds binaries to need."""
    (folder / "debian").mkdir(exist_ok=True)
    (folder / "debian/control").write_text("Source: gsort\n\nPackage: gsort-binary\nArchitecture: any\n")
    text = output_of("dpkg-shlibdeps", "-O", "--ignore-missing-info", *binaries, cwd=folder)
    return set(re.search(r"shlibs:Depends=(.*)", text)[1].split(", "))
