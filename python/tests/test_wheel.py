# type: ignore
"""The wheel: put together by the backend, installed into an empty environment without a network."""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Of what the build folder has: compiling it again takes minutes."""
    import wattle._core

    command = os.environ.get("WATTLE_TEST_COMMAND")
    if not command:
        pytest.skip("the command was not built")
    sys.path.insert(0, str(ROOT / "python"))
    import backend

    backend.compile_into = lambda _: (pathlib.Path(wattle._core.__file__), pathlib.Path(command))
    folder = tmp_path_factory.mktemp("wheel")
    return folder / backend.build_wheel(str(folder))


def test_the_record_of_a_wheel_is_true(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (record,) = [name for name in archive.namelist() if name.endswith("/RECORD")]
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        assert {row[0] for row in rows} == set(archive.namelist())
        for name, digest, size in rows:
            if name == record:
                continue
            data = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={found}", str(len(data)))
        assert "wattle/py.typed" in archive.namelist()
        (points,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        assert archive.read(points).decode() == "[pytest11]\nwattle = wattle.pytest_plugin\n"
        assert "wattle/_core.pyi" in archive.namelist()


def test_a_wheel_is_installed_without_a_network(wheel, tmp_path, tree):
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    # The build folder's module finds its library there; that of a wheel has it inside.
    environment = {
        **os.environ,
        **tree.variables(),
        "LD_LIBRARY_PATH": str(pathlib.Path(os.environ["PYTHONPATH"]).parent / "src"),
        "PIP_NO_INDEX": "1",
        "PYTHONPATH": "",
    }

    def run(*words):
        ended = subprocess.run(
            words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    run(python, "-m", "pip", "install", "--disable-pip-version-check", str(wheel))
    shown = run(python, "-c", "import wattle\nwith wattle.measure() as m: pass\nprint(list(m.domains))")
    assert shown == "['package_0', 'package_1', 'dram_0']\n"
    assert run(python, "-m", "wattle", "--version").startswith("wattle ")
    assert run(str(tmp_path / "venv" / "bin" / "wattle"), "--version").startswith("wattle ")


@pytest.mark.parametrize(("level", "jobs"), [("3", "3"), (None, str(len(os.sched_getaffinity(0))))])
def test_a_build_has_as_many_jobs_as_it_may(monkeypatch, tmp_path, level, jobs):
    spec = importlib.util.spec_from_file_location("fresh_backend", ROOT / "python" / "backend.py")
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    commands = []
    monkeypatch.setattr(backend, "run", lambda *words: commands.append(words))
    monkeypatch.delenv("CMAKE_BUILD_PARALLEL_LEVEL", raising=False)
    if level is not None:
        monkeypatch.setenv("CMAKE_BUILD_PARALLEL_LEVEL", level)
    built = tmp_path / "python" / "wattle"
    built.mkdir(parents=True)
    (built / "_core.so").touch()
    backend.compile_into(tmp_path)
    (build,) = [words for words in commands if "--build" in words]
    assert build[build.index("--parallel") + 1] == jobs


def test_what_a_wheel_needs_is_checked(tmp_path):
    def check(path):
        return subprocess.run(
            [ROOT / "scripts" / "check-wheel", path], capture_output=True, text=True, check=False
        )

    import wattle._stream

    # A stream needs libcurl, by itself or by the library: a wheel has none.
    with zipfile.ZipFile(tmp_path / "stream.whl", "w") as archive:
        archive.write(wattle._stream.__file__, "stream.so")
    ended = check(tmp_path / "stream.whl")
    assert ended.returncode == 1
    assert "stream.so: needs the library lib" in ended.stdout
    with zipfile.ZipFile(tmp_path / "fit.whl", "w") as archive:
        archive.write("/bin/true", "program")
    assert check(tmp_path / "fit.whl").returncode in (0, 1)
    with zipfile.ZipFile(tmp_path / "empty.whl", "w") as archive:
        archive.writestr("text", "no program")
    assert check(tmp_path / "empty.whl").returncode == 1
