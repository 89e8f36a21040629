"""The Python that has what Evenhand is held against: an environment of its own, built once from hashed requirements."""

import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[1] / "requirements" / "peers.txt"
MINUTES = 15
_BUILT = ".built"  # Written last: without it the environment is half done.


@cache
def find_peer_python() -> Path | None:
    """The interpreter, built on the first call; None where that fails, with the reason printed once."""
    try:
        return build_peer_environment(name_peer_folder(REQUIREMENTS), REQUIREMENTS)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"        the environment with the peers cannot be built, they are not measured: {_reason(error)}")
        return None


def build_peer_environment(folder: Path, requirements: Path, before: tuple[str, ...] = ()) -> Path:
    """The interpreter of an environment that has the requirements, made where there is no whole one yet.

    What comes `before` is installed first, in whatever build the machine is set up for; the rest then has no say in it.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / _BUILT).exists():
        print(f"        building {folder} from {requirements.name}: some minutes, once", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if before:
            _run([*install, *before])
        hashed = ["--require-hashes", *(["--no-deps"] if before else []), "--requirement", str(requirements)]
        _run([*install, *hashed])
        (folder / _BUILT).touch()
    return python


def name_peer_folder(requirements: Path) -> Path:
    """The folder of the environment with these requirements."""
    return find_cache_folder() / f"{requirements.stem}-{_fingerprint(requirements)}"


def find_cache_folder() -> Path:
    """Where the environment is kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evenhand-bench"


def _fingerprint(requirements: Path) -> str:
    version = f"{sys.implementation.cache_tag} {sys.platform}\n".encode()
    return hashlib.sha256(version + requirements.read_bytes()).hexdigest()[:12]


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, text=True, timeout=60 * MINUTES, check=True)


def _reason(error: Exception) -> str:
    """The last line that pip wrote about it, or what the system says."""
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
    lines = [line for line in (said or "").splitlines() if line.startswith("ERROR:")] or [str(error)]
    return lines[-1].removeprefix("ERROR:").strip()
