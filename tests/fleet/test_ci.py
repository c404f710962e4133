"""fleet/ci: the scripts of the action and of the template, run as their CI runs them, in a temporary folder."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import tarfile

import pytest
from conftest import FLEET

yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: run scripts/setup test")

FOLDER = FLEET / "ci"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text())
SCRIPT = (FOLDER / "wattle-ci").read_text()
# Peak memory is the same on a busy machine.
SMALL, LARGE = (f'python3 -c "x = b\\"x\\" * ({megabytes} << 20)"' for megabytes in (10, 100))


class Job:
    """A checkout, and programs of a machine without sensors, wattle among them if that is installed."""

    def __init__(self, root, installed=True):
        self.root = root
        self.here = root / "checkout"
        self.here.mkdir()
        (root / "bin").mkdir()
        if installed:
            (root / "bin" / "wattle").symlink_to(os.environ["WATTLE_TEST_COMMAND"])
        self.environment = {
            "PATH": f"{root}/bin:/usr/bin:/bin", "HOME": str(root), "TMPDIR": str(root),
            "WATTLE_SYSFS": str(root / "none"), "WATTLE_NVML_LIBRARY": str(root / "none.so"), "WATTLE_SOCK_PATH": "none",
        }

    def work(self, command, folder=None):
        """The command that is measured, in a branch."""
        at = folder or self.here
        at.mkdir(exist_ok=True)
        (at / "work").write_text(f"#!/bin/sh\n{command}\n")
        (at / "work").chmod(0o755)
        return at

    def run(self, command, **variables):
        return subprocess.run(
            command, cwd=self.here, env={**self.environment, **variables}, capture_output=True, text=True, timeout=240
        )

    def act(self, **inputs):
        """Runs the action's steps as the runner does, and returns (exit status, summary, output)."""
        given = {name: inputs.pop(name.replace("-", "_"), each.get("default", "")) for name, each in ACTION["inputs"].items()}
        assert not inputs
        given.update(runs="2", warmup="0")
        summary = self.root / "summary"
        summary.unlink(missing_ok=True)
        (step,) = ACTION["runs"]["steps"]
        variables = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], text)
            for name, text in step["env"].items()
        }
        done = self.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            GITHUB_ACTION_PATH=str(FOLDER), GITHUB_STEP_SUMMARY=str(summary), **variables,
        )
        return done.returncode, summary.read_text() if summary.exists() else "", done.stdout + done.stderr


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


def test_the_action_passes_each_input_as_a_variable_and_none_into_its_script():
    (step,) = ACTION["runs"]["steps"]
    assert ACTION["runs"]["using"] == "composite" and "${{" not in step["run"]
    used = {re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)[1] for text in step["env"].values()}
    assert used == set(ACTION["inputs"])
    assert {name for name in step["env"] if name not in SCRIPT} == set()


def test_a_branch_that_costs_more_fails(job):
    job.work(LARGE)
    job.work(SMALL, job.root / "base")
    status, summary, output = job.act(commands="./work", base=str(job.root / "base"), quantity="memory")
    assert status == 1, output
    verdict = "memory is more than 10% above that of the base branch, beyond chance"
    assert summary.startswith(f"### Wattle: {verdict}\n") and verdict in output
    small, large = re.search(r"^ {6}peak memory +([\d.]+) MB  .*? ([\d.]+) MB  ", summary, re.MULTILINE).groups()
    assert float(large) > float(small) + 80


def test_a_branch_that_costs_the_same_or_less_passes(job):
    job.work(SMALL)
    job.work(LARGE, job.root / "base")
    status, summary, output = job.act(commands="./work", base=str(job.root / "base"), quantity="memory")
    assert status == 0, output
    assert summary.startswith("### Wattle: memory is not more than 10% above that of the base branch\n")


def test_runs_of_both_branches_take_turns(job):
    base = job.root / "base"
    job.work(f"echo head >>{job.root}/order")
    job.work(f"echo base >>{job.root}/order", base)
    job.act(commands="./work", base=str(base), quantity="memory", undecided="pass")
    assert (job.root / "order").read_text().split() == ["base", "head", "head", "base"]


def test_a_build_runs_in_both(job):
    base = job.work("cat built", job.root / "base")
    job.work("cat built")
    status, _, output = job.act(commands="./work", build="echo it >>built", base=str(base), undecided="pass")
    assert status == 0, output
    assert (base / "built").read_text() == (job.here / "built").read_text() == "it\n"


def test_the_first_run_writes_a_record_for_the_next(job):
    job.work(SMALL)
    status, summary, output = job.act(commands="./work", base="record.json", record="record.json", quantity="memory")
    assert status == 0, output
    assert summary.startswith("### Wattle: measured; nothing to compare with: there is no record.json\n")
    assert "| `./work` |" in summary
    job.work(LARGE)
    # The record of the base branch is compared before it is replaced.
    status, summary, output = job.act(commands="./work", base="record.json", record="record.json", quantity="memory")
    assert status == 1, output
    assert json.loads((job.here / "record.json").read_text())


def test_what_nobody_can_know_fails_unless_it_may_pass(job):
    base = job.work("true", job.root / "base")
    job.work("true")
    for undecided, expected in (("fail", 2), ("pass", 0)):
        status, summary, output = job.act(commands="./work", base=str(base), undecided=undecided)
        assert status == expected, output
        assert summary.startswith("### Wattle: not decided whether energy is more than 10%")
        assert "the energy is unknown" in summary  # the reason


def test_an_estimate_is_called_one(job):
    job.work("sleep 0.1")
    status, summary, output = job.act(commands="./work", estimate="true")
    assert status == 0, output
    assert "not measured" in summary.splitlines()[-1]
    assert "estimate" not in job.act(commands="./work")[1].splitlines()[-1]


@pytest.mark.parametrize("with_base", [True, False])
def test_a_command_that_fails_is_named(job, with_base):
    base = job.work("true", job.root / "base")
    job.work("echo the cause; exit 3")
    status, summary, output = job.act(commands="true\n./work", base=str(base) if with_base else "")
    assert status == 1
    assert "a command failed" in summary
    assert "./work" in output and (not with_base or "the cause" in output)


def test_settings_that_are_wrong_are_named(job):
    status, _, output = job.act(commands="\n")
    assert status == 2 and "WATTLE_CI_COMMANDS is empty" in output
    status, _, output = Job(job.here, installed=False).act(commands="true")
    assert status == 2 and "wattle is not installed" in output


def archive_of(job, name="wattle-0.1.0-linux.tar.gz"):
    with tarfile.open(job.root / name, "w:gz") as archive:
        archive.add(os.environ["WATTLE_TEST_COMMAND"], "wattle-0.1.0-linux/bin/wattle")
    return job.root / name


def test_an_archive_is_used_if_its_checksum_is_right(tmp_path):
    job = Job(tmp_path, installed=False)
    archive = archive_of(job)
    right = hashlib.sha256(archive.read_bytes()).hexdigest()
    status, summary, output = job.act(commands="true", package=str(archive), sha256=right)
    assert status == 0 and "| `true` |" in summary, output
    status, summary, output = job.act(commands="true", package=str(archive), sha256="0" * 64)
    assert status == 2 and "has another checksum" in output and not summary


def test_a_debian_package_is_installed_by_apt(tmp_path):
    job = Job(tmp_path, installed=False)
    installer = f'echo "$@" >{tmp_path}/asked; ln -s {os.environ["WATTLE_TEST_COMMAND"]} {tmp_path}/bin/wattle'
    for name, text in (("apt-get", installer), ("sudo", '"$@"')):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (job.here / "wattle.deb").write_text("")
    status, _, output = job.act(commands="true", package="wattle.deb")
    assert status == 0, output
    assert (tmp_path / "asked").read_text() == f"install --yes {job.here}/wattle.deb\n"


TEMPLATE = FOLDER / "gitlab.yml"


def test_the_template_holds_the_same_script():
    text = TEMPLATE.read_text()
    begin, end = text.index("<<'END_OF_WATTLE_CI'\n") + 21, text.index("    END_OF_WATTLE_CI\n")
    right = "".join(f"    {line}".rstrip() + "\n" for line in SCRIPT.splitlines())
    if os.environ.get("UPDATE_GOLDEN"):
        TEMPLATE.write_text(text[:begin] + right + text[end:])
    assert text[begin:end] == right, "run this test with UPDATE_GOLDEN=1"


def test_the_template_compares_with_the_target_branch(job):
    def git(*words):
        identity = ("-c", "user.name=A", "-c", "user.email=a@b.invalid")
        done = job.run(["git", *identity, *words])
        assert done.returncode == 0, done.stderr

    git("init", "--quiet", "--initial-branch=main", ".")
    git("remote", "add", "origin", str(job.here))
    for branch, command in (("main", SMALL), ("faster", LARGE)):
        if branch != "main":
            git("checkout", "--quiet", "-b", branch)
        job.work(command)
        git("add", "work")
        git("commit", "--quiet", "--message", branch)
    made = yaml.safe_load(TEMPLATE.read_text())[".wattle"]
    # GitLab's runner joins the lines of a script.
    done = job.run(
        ["sh", "-ec", "\n".join(made["script"])], CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
        WATTLE_CI_COMMANDS="./work", WATTLE_CI_RUNS="2", WATTLE_CI_WARMUP="0", WATTLE_CI_QUANTITY="memory",
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "beyond chance" in done.stdout
    for path in made["artifacts"]["paths"]:
        assert (job.here / path).stat().st_size > 0
