"""Builds the wheel of the package `wattle` (PEP 517): CMake compiles, this file puts it together.

Needs CMake 3.25, a C++20 compiler and the packages of `scripts/setup build`; no package of Python's.
Settings: `--config-settings=platform=manylinux_2_35_x86_64` names the platform in the wheel's name
(scripts/check-wheel shows whether that is true), `--config-settings=build-dir=DIR` keeps the build.
CMAKE_BUILD_PARALLEL_LEVEL is the number of parallel jobs (default: the CPU cores it may use).
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "wattle"
SUMMARY = "Measure the energy, power, CPU time, memory and GPUs of code and commands"

OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_UNITY_BUILD": "ON",
    "CMAKE_UNITY_BUILD_BATCH_SIZE": "32",
    "BUILD_SHARED_LIBS": "OFF",
    "WATTLE_BUILD_PYTHON": "ON",
    "WATTLE_BUILD_COMMAND": "ON",
    "WATTLE_BUILD_DAEMON": "OFF",
    "WATTLE_BUILD_MONGODB": "OFF",
    "WATTLE_BUILD_STREAM": "OFF",
    "WATTLE_BUILD_TESTS": "OFF",
    "WATTLE_BUILD_WEB": "OFF",
    # The static one needs the glibc of the machine that it was made on.
    "WATTLE_STATIC_RUNTIME": "OFF",
}


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.findall(r"project\(wattle VERSION ([0-9.]+)", text)[0]


def metadata():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    fields = {
        "Metadata-Version": "2.1",
        "Name": NAME,
        "Version": version(),
        "Summary": SUMMARY,
        "License": "Apache-2.0",
        "Requires-Python": ">=3.10",
        "Provides-Extra": "arrays",
        "Requires-Dist": "numpy; extra == 'arrays'",
        "Description-Content-Type": "text/markdown",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + "\n" + readme


def tag(config_settings):
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = (config_settings or {}).get("platform") or sysconfig.get_platform()
    return f"{python}-{python}-" + re.sub(r"[-.]", "_", platform)


def dist_info():
    return f"{NAME}-{version()}.dist-info"


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def compile_into(folder):
    """Builds the extension and the command; the paths of both."""
    if shutil.which("cmake") is None:
        raise SystemExit("wattle is built by CMake 3.25 or later, which is not installed")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = [f"-D{name}={value}" for name, value in OPTIONS.items()]
    python = f"-DPython_EXECUTABLE={sys.executable}"
    run("cmake", "-S", ROOT, "-B", folder, *generator, python, *options)
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
    run("cmake", "--build", folder, "--parallel", jobs, "--target", "wattle_python", "wattle_command")
    (extension,) = Path(folder, "python", "wattle").glob("_core*.so")
    return extension, Path(folder, "apps", "wattle", "wattle")


class Wheel:
    """A wheel as it is written: each file once, and its record at the end."""

    def __init__(self, path):
        self._file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add(self, name, data, executable=False):
        info = zipfile.ZipInfo(name)  # of 1980: the same wheel from the same sources
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        self._file.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self):
        record = f"{dist_info()}/RECORD"
        self._file.writestr(zipfile.ZipInfo(record), "".join(self._record) + f"{record},,\n")
        self._file.close()


def stripped(path):
    """The bytes of a program without its debug symbols."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        shutil.copy(path, copy)
        if shutil.which("strip"):
            run("strip", "--strip-unneeded", copy)
        return copy.read_bytes()


def sources():
    """The files of the package, by their names in a wheel."""
    package = ROOT / "python" / NAME
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            yield f"{NAME}/{path.relative_to(package).as_posix()}", path


def add_metadata(add, config_settings):
    add("METADATA", metadata())
    add("WHEEL", f"Wheel-Version: 1.0\nGenerator: wattle\nRoot-Is-Purelib: false\nTag: {tag(config_settings)}\n")
    add("LICENSE", (ROOT / "LICENSE").read_text(encoding="utf-8"))
    add("entry_points.txt", "[pytest11]\nwattle = wattle.pytest_plugin\n" if has_plugin() else "\n")


def has_plugin():
    return (ROOT / "python" / NAME / "pytest_plugin.py").exists()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory, dist_info())
    folder.mkdir(parents=True, exist_ok=True)
    add_metadata(lambda name, text: (folder / name).write_text(text, encoding="utf-8"), config_settings)
    return dist_info()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{version()}-{tag(config_settings)}.whl"
    kept = (config_settings or {}).get("build-dir")
    with tempfile.TemporaryDirectory(prefix="wattle-build-") as temporary:
        extension, command = compile_into(kept or temporary)
        wheel = Wheel(Path(wheel_directory, name))
        for path_in_wheel, path in sources():
            wheel.add(path_in_wheel, path.read_bytes())
        wheel.add(f"{NAME}/{extension.name}", stripped(extension), executable=True)
        wheel.add(f"{NAME}-{version()}.data/scripts/wattle", stripped(command), executable=True)
        add_metadata(
            lambda file, text: wheel.add(f"{dist_info()}/{file}", text.encode()), config_settings
        )
        wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):
    """All that git knows of; without git, all but what is built."""
    name = f"{NAME}-{version()}"
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False
    )
    if listed.returncode == 0:
        files = [Path(os.fsdecode(path)) for path in listed.stdout.split(b"\0") if path]
    else:
        skipped = ("build", ".git", "node_modules")
        files = [p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file()]
        files = [p for p in files if not any(part in skipped for part in p.parts)]
    with tarfile.open(Path(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        for path in sorted(files):
            archive.add(ROOT / path, f"{name}/{path.as_posix()}", recursive=False)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as info:
            info.write(metadata())
            info.flush()
            archive.add(info.name, f"{name}/PKG-INFO")
    return f"{name}.tar.gz"
