"""A Slurm cluster of one node, this machine, for tests: controller, node, authentication."""

import getpass
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
MISSING = [name for name in (*DAEMONS, "sbatch") if not shutil.which(name, path=PATH)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """Partitions `big` and `small` of one node: the feature `fast`, and two GPUs in name only."""

    def __init__(self):
        # Not pytest's folder: the path of a socket has 107 characters at most.
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.env = {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.daemons = []

    def configure(self):
        user, host, here = getpass.getuser(), socket.gethostname().split(".")[0], self.folder
        for name in ("state", "spool", "munge"):
            (here / name).mkdir(mode=0o700)
        key = here / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        (here / "gres.conf").write_text("AutoDetect=off\nName=gpu File=/dev/null,/dev/zero\n")
        (here / "slurm.conf").write_text(f"""\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={here}/munge/socket
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 Gres=gpu:2 Features=fast
PartitionName=big Nodes={host} Default=YES
PartitionName=small Nodes={host}
""")

    def start(self):
        here = self.folder
        munge = [f"--{name}={here}/munge/{name}" for name in ("socket", "log-file", "pid-file")]
        munge += [f"--key-file={here}/munge/key", f"--seed-file={here}/munge/seed"]
        self.configure()
        for command in (
            ["munged", "--foreground", "--force", *munge],
            ["slurmctld", "-D"],
            ["slurmd", "-D"],
        ):
            with (here / f"{command[0]}.out").open("w") as output:
                # They end with this process, however it ends.
                self.daemons.append(
                    subprocess.Popen(
                        ["setpriv", "--pdeathsig", "TERM", *command],
                        env=self.env,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                    )
                )
            time.sleep(0.5)
        end = time.monotonic() + 30
        while self.run("sinfo", "-h", "-o", "%t", "-p", "big").stdout.strip() != "idle":
            if time.monotonic() > end or any(d.poll() is not None for d in self.daemons):
                return False
            time.sleep(0.2)
        return True

    def why(self):
        """The last output line of each daemon."""
        outputs = (self.folder / f"{name}.out" for name in DAEMONS)
        return "; ".join(
            (file.read_text().splitlines() or [""])[-1] for file in outputs if file.exists()
        )

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait(timeout=30)
        shutil.rmtree(self.folder)

    def run(self, *command, cwd=None, **env):
        return subprocess.run(
            [str(word) for word in command],
            env={**self.env, **env},
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def queue(self):
        return self.run("squeue", "-h").stdout

    def exit_codes(self, job, tasks):
        """Waits for the array JOB; the exit code of each of its TASKS."""
        return [self.exit_code(f"{job}_{task}") for task in range(tasks)]

    def exit_code(self, job):
        """Waits for JOB, or all of the array it is of; its exit code."""
        end = time.monotonic() + 240
        while self.run("squeue", "-h", "-j", job.split("_")[0]).stdout:
            assert time.monotonic() < end, self.queue()
            time.sleep(0.2)
        shown = self.run("scontrol", "show", "job", job).stdout
        return int(re.search(r" ExitCode=(\d+):", shown).group(1))
