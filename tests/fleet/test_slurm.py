"""Slurm's plugin on a real Slurm of two nodes, over fake counters: the energies are those of the fakes, for steps at
the same time, killed and requeued ones; a plugin that fails never fails a job."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest
from conftest import FLEET, Machine, end, eventually
from slurm_cluster import SCRIPT, Cluster, run

WATTS = 120  # of the fakes: a package and its memory
LATE_S = 0.25
# A program that hangs is killed after this. Slurm itself needs a while to end a step.
END_WAIT_MS = 300
BOUND_S = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    plugin = os.environ.get("WATTLE_TEST_SPANK", "")
    if not pathlib.Path(plugin).is_file():
        pytest.skip("the plugin is not built: libslurm-dev is not installed: run scripts/setup test")
    machine = Machine(tmp_path_factory.mktemp("machine"))
    if os.geteuid() == 0:
        os.setpriority(os.PRIO_PROCESS, machine.player.pid, -20)
    environment = {**machine.environment, "WATTLE_NVML_LIBRARY": "/nonexistent"}
    made = None
    try:
        made = Cluster(plugin, environment)
        yield made
    finally:
        if made is not None:
            made.stop()
        end(machine.player)


@pytest.fixture(autouse=True)
def settings(cluster):
    cluster.configure()
    yield


def read(path):
    return json.loads(path.read_text())


def check_energy(record):
    """The fakes' power times the window, within the ±. They are renewed every millisecond, but on a busy machine the
    process that does it may come late at either end."""
    energy = record["energy"]
    assert energy["total_covers"] == ["cpu", "dram"]
    late_j = LATE_S * WATTS
    truth_j = WATTS * record["wall_s"]
    assert abs(energy["total_j"] - truth_j) <= energy["total_uncertainty_j"] + late_j, (energy, record["wall_s"])


def eventual_record(cluster, job, step, node="n1"):
    return read(eventually(lambda: cluster.records(job, step, node))[0])


def srun(cluster, *words, **variables):
    """Its result, without what srun says where it must wait for the node."""
    done = cluster.command("srun", "--nodes=1", "--nodelist=n1", *words, **variables)
    done.stderr = re.sub(r"^srun: job \d+ (queued|has been allocated).*\n", "", done.stderr, flags=re.MULTILINE)
    return done


def last_job(cluster):
    """The newest that Slurm knows."""
    shown = cluster.command("scontrol", "--oneliner", "show", "job").stdout
    return max(re.findall(r"^JobId=(\d+)", shown, re.MULTILINE), key=int)


def test_srun_measures_its_step_and_prints_the_sum(cluster):
    done = srun(cluster, "--wattle", "-n4", "sh", "-c", "echo rank $SLURM_PROCID; sleep 2; exit $SLURM_PROCID")
    assert done.returncode == 3
    assert sorted(re.findall(r"^rank (\d)$", done.stdout, re.MULTILINE)) == ["0", "1", "2", "3"]
    job = last_job(cluster)
    record = read(cluster.records(job, "0", "n1")[0])
    check_energy(record)
    assert record["wall_s"] > 2
    assert re.search(rf"^job {job}: \d+(\.\d+)? J ±\d", done.stderr, re.MULTILINE), done.stderr
    assert record["command"][0] == "sh"
    assert record["slurm"]["job_id"] == job and record["slurm"]["step_id"] == "0"
    assert record["exit"]["code"] == 3


def test_a_record_has_what_each_rank_used(cluster):
    work = "i=0; while [ $i -lt $((SLURM_PROCID * 100000)) ]; do i=$((i+1)); done; [ $SLURM_PROCID != 1 ] || kill -9 $$"
    srun(cluster, "--wattle=quiet", "-n3", "sh", "-c", work)
    record = eventual_record(cluster, last_job(cluster), "0")
    tasks = record["slurm"]["tasks"]
    assert [task["rank"] for task in tasks] == [0, 1, 2]
    assert [(task["code"], task["signal"]) for task in tasks] == [(0, None), (None, 9), (0, None)]
    cpu = [task["cpu_user_s"] + task["cpu_system_s"] for task in tasks]
    assert cpu[2] > cpu[0]
    assert sum(cpu) == pytest.approx(record["resource_usage"]["cpu_s"], abs=1e-6)
    assert all(task["ended_unix_s"] >= task["started_unix_s"] for task in tasks)
    assert record["exit"]["signal"] == 9


def test_json_is_one_line_on_stderr(cluster):
    done = srun(cluster, "--wattle=json", "-n1", "sleep", "0.3")
    report = next(json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))
    assert report["schema"] == "wattle.report/1"
    assert report["reports"][0]["job"] == last_job(cluster)
    assert report["reports"][0]["energy_j"] > 0
    assert done.stdout == ""


def test_a_step_on_two_nodes_has_two_records_and_one_sum(cluster):
    done = cluster.command("srun", "--nodes=2", "-n2", "--wattle=json", "sleep", "0.5")
    job = last_job(cluster)
    records = [read(path) for path in cluster.records(job, "0")]
    assert len(records) == 2, done.stderr
    for record in records:
        check_energy(record)
    report = next(json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))["reports"][0]
    # Both are this machine, whose energy counts once where they are at the same time.
    starts = [record["started_unix_s"] for record in records]
    ends = [record["started_unix_s"] + record["wall_s"] for record in records]
    apart_s = max(0, max(starts) - min(ends))
    truth_j = WATTS * (max(ends) - min(starts) - apart_s)
    assert abs(report["energy_j"] - truth_j) <= report["uncertainty_j"] + 2 * LATE_S * WATTS


def test_a_step_of_a_batch_job_has_a_record_of_each_node(cluster):
    path = cluster.folder / "both.sh"
    path.write_text("#!/bin/sh\nsrun -n2 true\n")
    job = cluster.command("sbatch", "--parsable", "--nodes=2", "--wattle=quiet", str(path)).stdout.strip()
    eventually(lambda: cluster.state(job) == "COMPLETED")
    eventually(lambda: len(cluster.records(job, "0", "n1")) == len(cluster.records(job, "0", "n2")) == 1)


def test_components_of_a_heterogeneous_job_are_jobs(cluster):
    path = cluster.folder / "heterogeneous.sh"
    path.write_text("#!/bin/sh\n#SBATCH -N1 -n1 --nodelist=n1\n#SBATCH hetjob\n#SBATCH -N1 -n1 --nodelist=n2\n"
                    "srun --het-group=0,1 --wattle=quiet sleep 0.2\n")
    job = cluster.command("sbatch", "--parsable", str(path)).stdout.strip()
    check_energy(eventual_record(cluster, job, "0", "n1"))
    check_energy(eventual_record(cluster, str(int(job) + 1), "0", "n2"))


def test_steps_at_the_same_time_have_a_record_each(cluster):
    job = cluster.submit("srun -n1 --overlap sleep 1 & srun -n2 --overlap sleep 1 & wait\n", "--wattle=quiet", "-n4")
    for step in ("0", "1", "batch"):
        record = eventual_record(cluster, job, step)
        check_energy(record)
        assert record["wall_s"] > 1
    report = run([os.environ["WATTLE_TEST_COMMAND"], "report", "--json", *map(str, cluster.records(job))])
    summed = json.loads(report.stdout)["reports"][0]
    assert summed["energy_j"] == eventual_record(cluster, job, "batch")["energy"]["total_j"]


def test_a_cancelled_job_keeps_what_was_measured(cluster):
    job = cluster.submit("srun sleep 60\n", "--wattle=quiet", "-n2")
    eventually(lambda: cluster.command("squeue", "--steps", "--noheader", f"--jobs={job}").stdout.count(f"{job}.0"))
    time.sleep(0.5)
    assert cluster.command("scancel", job).returncode == 0
    record = eventual_record(cluster, job, "0")
    check_energy(record)
    assert record["wall_s"] < 30
    assert record["exit"]["signal"] in (9, 15)
    check_energy(eventual_record(cluster, job, "batch"))


def test_a_requeued_job_has_records_of_both_runs(cluster):
    first = cluster.folder / "first"
    job = cluster.submit(f"[ ! -e {first} ] || exec sleep 0.3\ntouch {first}\nsleep 60\n", "--wattle=quiet", "--requeue", "-n1")
    eventually(first.exists)
    assert cluster.command("scontrol", "requeue", job).returncode == 0

    eventually(lambda: cluster.field(job, "Reason") == "BeginTime")
    # Slurm would wait two minutes now. Within the second of the requeue it would find the job's credential revoked.
    time.sleep(2)
    assert cluster.command("scontrol", "update", f"JobId={job}", "StartTime=now").returncode == 0
    eventually(lambda: cluster.state(job) == "COMPLETED")
    paths = eventually(lambda: len(cluster.records(job)) == 2 and cluster.records(job))
    assert sorted(path.name for path in paths) == [f"job-{job}.step-batch.node-n1.json",
                                                   f"job-{job}.step-batch.node-n1.restart-1.json"]
    for path in paths:
        check_energy(read(path))


def test_runs_are_in_the_history_with_tags_of_the_job(cluster):
    job = cluster.submit("sleep 0.2\n", "--wattle=quiet", "-n1", "--array=3")
    wattle = os.environ["WATTLE_TEST_COMMAND"]

    def saved():
        listed = run([wattle, "history", "--tag", f"array={job}_3", "--json"], env=cluster.environment)
        return listed.returncode == 0 and json.loads(listed.stdout)["runs"]

    tags = eventually(saved)[0]["tags"]
    assert tags["step"] == "batch" and tags["node"] == "n1"


def test_the_sum_becomes_the_comment_of_a_job_with_its_gpu_hours(cluster):
    cluster.configure(comment="yes")
    job = cluster.submit("srun sleep 0.3\n", "--wattle=quiet", "-n1", "--gres=gpu:2")
    eventually(lambda: cluster.state(job) == "COMPLETED")
    assert eventual_record(cluster, job, "batch")["slurm"]["gpus"] == 2
    shown = cluster.command("scontrol", "show", "job", job).stdout
    assert re.search(rf"Comment=job {job}: (at least )?\S+ J ±\S+ J, 0\.\d+ GPU-hours", shown), shown


def test_the_site_decides_and_the_user_may_differ(cluster):
    srun(cluster, "--wattle=off", "-n1", "true")
    without = last_job(cluster)
    cluster.configure(default="quiet")
    assert srun(cluster, "-n1", "true").stderr == ""
    eventual_record(cluster, last_job(cluster), "0")
    srun(cluster, "--wattle=off", "-n1", "true")
    assert not cluster.records(last_job(cluster)) and not cluster.records(without)


def test_a_wrong_choice_is_refused_before_the_job(cluster):
    done = srun(cluster, "--wattle=loud", "-n1", "echo", "ran")
    assert done.returncode != 0 and "ran" not in done.stdout
    assert "text, json, quiet or off" in done.stderr


def program(cluster, name, text):
    path = cluster.folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


FAILING = {
    "missing": None,
    "crashing": "ulimit -c 0; kill -SEGV $$\n",
    "exiting": "echo broken; exit 1\n",
    "hanging": "trap '' TERM; exec sleep 1000\n",
    "deaf": "kill -STOP $$\n",
    "loud": "exec yes\n",
}


@pytest.mark.parametrize("kind", FAILING)
def test_a_program_that_fails_changes_neither_the_job_nor_delays_it(cluster, kind):
    path = program(cluster, kind, FAILING[kind]) if FAILING[kind] else cluster.folder / "nothing"
    cluster.configure(program=path, end_wait=END_WAIT_MS)
    begin = time.monotonic()
    # srun prints what the program prints, also if it has no end.
    choice = "--wattle=quiet" if kind == "loud" else "--wattle"
    done = srun(cluster, choice, "-n2", "sh", "-c", "echo ran; exit 7")
    assert done.returncode == 7
    assert done.stdout == "ran\nran\n"
    assert time.monotonic() - begin < BOUND_S
    # Nothing of it is left.
    eventually(lambda: run(["pgrep", "-f", str(path) + " step"]).returncode == 1)
    eventually(lambda: cluster.command("sinfo", "--noheader", "--format=%T").stdout.split() == ["idle"])


def test_what_the_program_writes_reaches_the_log_as_text(cluster):
    cluster.configure(program=program(cluster, "writing", "printf 'a\\033[31m\\007b\\n'\n"))
    srun(cluster, "--wattle=quiet", "-n1", "sleep", "0.2")
    line = eventually(lambda: next((line for line in cluster.log("n1").splitlines() if "wattle: a" in line), ""))
    assert line.endswith("wattle: a?[31m?b")


def test_a_folder_that_cannot_be_written_fails_no_job(cluster):
    cluster.configure(folder="/dev/null/records")
    done = srun(cluster, "--wattle", "-n1", "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert "has no record" in done.stderr
    eventually(lambda: "wattle: " in cluster.log("n1"))


def test_a_full_folder_fails_no_job_and_keeps_the_run_in_the_history(cluster):
    folder = cluster.folder / "full"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], check=False).returncode != 0:
        pytest.skip("a file system cannot be mounted here")
    try:
        with open(folder / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        cluster.configure(folder=folder)
        assert srun(cluster, "--wattle", "-n1", "sh", "-c", "exit 7").returncode == 7
        job = last_job(cluster)
        eventually(lambda: "No space left" in cluster.log("n1"))
        eventually(lambda: run([os.environ["WATTLE_TEST_COMMAND"], "history", "--tag", f"job={job}"],
                               env=cluster.environment).returncode == 0)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("name", ["-o /etc/passwd", "a\x1b[31mb", "x" * 1000, "$(touch gone)", "a,b=c", "../../x", "%s%n"])
def test_a_hostile_job_name_is_a_printable_tag_and_nothing_else(cluster, name):
    job = cluster.submit("true\n", "--wattle=quiet", "-n1", f"--job-name={name}")
    eventual_record(cluster, job, "batch")

    def saved():
        listed = run([os.environ["WATTLE_TEST_COMMAND"], "history", "--tag", f"job={job}", "--json"],
                     env=cluster.environment)
        return listed.returncode == 0 and json.loads(listed.stdout)["runs"]

    tag = eventually(saved)[0]["tags"]["name"]
    assert tag.isprintable() and tag.startswith(name[:1])
    assert not (cluster.folder / "gone").exists()


def test_the_program_runs_as_the_user_of_the_job(cluster):
    if os.geteuid() != 0:
        pytest.skip("only root starts jobs of others")
    # Of a queued srun --uid Slurm's own messages are refused; of sbatch they are not.
    ran, output = cluster.folder / "who-ran", cluster.folder / "who-output"
    for file in (ran, output):
        file.touch()
        file.chmod(0o666)
    cluster.configure(program=program(cluster, "who", f"id -u > {ran}; id -G >> {ran}\n"))
    cluster.submit("id -u; id -G\n", "--uid=nobody", "--wattle=quiet", "--chdir=/", "-n1", f"--output={output}")
    done, written = (eventually(lambda: (text := file.read_text()).count("\n") == 2 and text) for file in (output, ran))
    assert written.startswith("65534\n")
    assert sorted(written.split()) == sorted(done.split()), "user and groups of the task"


def test_prolog_and_epilog_measure_a_job_without_the_plugin(cluster):
    spool = cluster.folder / "spool"
    variables = {name: value for name, value in cluster.environment.items() if name.startswith("WATTLE_")}
    variables |= {"WATTLE_PROGRAM": os.environ["WATTLE_TEST_COMMAND"], "WATTLE_SLURM_RUN": str(cluster.folder / "run"),
                  "WATTLE_SLURM_SPOOL": str(spool)}
    words = " ".join(f"'{name}={value}'" for name, value in variables.items())
    try:
        for script in ("prolog", "epilog"):
            (cluster.folder / script).write_text(f"#!/bin/sh\nexec env {words} {FLEET}/slurm/{script}\n")
        cluster.configure(default="off")
        job = cluster.submit("sleep 0.5\n", "-n1", "--gres=gpu:2")
        path = spool / f"job-{job}.step-job.node-n1.json"
        eventually(path.exists)
        record = read(path)
        check_energy(record)
        assert record["wall_s"] > 0.4
        eventually(lambda: cluster.state(job) == "COMPLETED")
        eventually(lambda: not list((cluster.folder / "run").iterdir()))
    finally:
        for script in ("prolog", "epilog"):
            (cluster.folder / script).write_text(SCRIPT)


def test_the_modulefiles_name_the_folders_of_an_installation():
    lua = (FLEET / "slurm" / "wattle.lua").read_text()
    tcl = (FLEET / "slurm" / "wattle.tcl").read_text()
    variables = re.findall(r'prepend_path\("(\w+)"', lua)
    assert variables == re.findall(r"^prepend-path (\w+)", tcl, re.MULTILINE)
    if shutil.which("tclsh") is None:
        return
    procedures = "proc module-whatis {text} {}\nproc prepend-path {name path} {puts \"$name $path\"}\n"
    shown = run(["tclsh"], input=procedures + tcl, env={**os.environ, "WATTLE_PREFIX": "/somewhere"})
    assert shown.stdout.splitlines()[0] == "PATH /somewhere/bin"
