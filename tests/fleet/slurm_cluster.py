"""A Slurm of its own: munged, slurmctld and two slurmd as processes of a test, in one folder."""

import getpass
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile
import time

from conftest import eventually, free_port, need

CONFIG = """
ClusterName=wattle
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=bf_interval=1
KillWait=2
PlugStackConfig={folder}/plugstack.conf
GresTypes=gpu
Prolog={folder}/prolog
Epilog={folder}/epilog
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={n1_port} CPUs=16 RealMemory=1000 Gres=gpu:2
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={n2_port} CPUs=16 RealMemory=1000
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""
SCRIPT = "#!/bin/sh\nexit 0\n"


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=120, **more)


class Cluster:
    """Commands of Slurm find it by `environment`. What is in the plugin's settings is read at each step."""

    def __init__(self, plugin, environment):
        for program, package in (("munged", "munge"), ("slurmctld", "slurmctld"), ("slurmd", "slurmd"),
                                 ("sbatch", "slurm-client")):
            need(program, package)
        # Not one of pytest's: munge wants folders that others may enter.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wattle-slurm-"))
        self.folder.chmod(0o755)
        self.plugin = plugin
        self.processes = []
        self.environment = {**environment, "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "XDG_STATE_HOME": str(self.folder / "home")}
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self):
        folder = self.folder
        munge = folder / "munge"
        for each in (munge, folder / "state", folder / "home"):
            each.mkdir(mode=0o755)
        for script in ("prolog", "epilog"):
            (folder / script).write_text(SCRIPT)
            (folder / script).chmod(0o755)
        (munge / "key").write_bytes(secrets.token_bytes(1024))
        (munge / "key").chmod(0o600)
        self.configure()
        for gpu in range(2):
            (folder / f"gpu{gpu}").touch()  # Slurm wants to see that there is a file
        (folder / "gres.conf").write_text(f"NodeName=n1 Name=gpu File={folder}/gpu[0-1]\n")
        (folder / "slurm.conf").write_text(CONFIG.format(
            folder=folder, user=getpass.getuser(), ctld_port=free_port(), n1_port=free_port(), n2_port=free_port()))
        self._run("munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                  f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        eventually((munge / "socket").exists)
        self._run("slurmctld", "-D")
        for node in ("n1", "n2"):
            self._run("slurmd", "-D", "-N", node)
        eventually(lambda: self.command("sinfo", "--noheader", "--format=%T").stdout.split() == ["idle"])

    def _run(self, *words):
        log = open(self.folder / f"{words[0]}-{len(self.processes)}.out", "w")
        # In a group of its own: slurmctld has a child that runs scripts.
        self.processes.append(subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                               stderr=log, start_new_session=True))

    def configure(self, **settings):
        """Sets what stands in plugstack.conf; without `program`: the one that was built."""
        settings.setdefault("program", os.environ["WATTLE_TEST_COMMAND"])
        settings.setdefault("folder", self.folder / "records")
        words = " ".join(f"{name}={value}" for name, value in settings.items() if value is not None)
        (self.folder / "plugstack.conf").write_text(f"optional {self.plugin} {words}\n")

    def command(self, *words, **variables):
        return run(words, env={**self.environment, **variables}, cwd=self.folder)

    def start(self, *words, **variables):
        return subprocess.Popen(words, env={**self.environment, **variables}, cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self, script, *options):
        """The ID of a batch job."""
        path = self.folder / f"script-{time.monotonic_ns()}.sh"
        path.write_text("#!/bin/sh\n" + script)
        made = self.command("sbatch", "--parsable", "--nodes=1", "--nodelist=n1", *options, str(path))
        assert made.returncode == 0, made.stderr
        return made.stdout.strip().split(";")[0]

    def state(self, job):
        return self.field(job, "JobState")

    def field(self, job, name):
        shown = self.command("scontrol", "--oneliner", "show", "job", job).stdout
        for word in shown.split():
            if word.startswith(name + "="):
                return word.removeprefix(name + "=")
        return ""

    def records(self, job, step="*", node=""):
        return sorted((self.folder / "records").glob(f"job-{job}.step-{step}.node-{node}*.json"))

    def log(self, node):
        return (self.folder / f"slurmd-{node}.log").read_text(errors="replace")

    def stop(self):
        if self.processes:
            self.command("scancel", "--user", getpass.getuser(), "--signal=KILL", "--full")
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
