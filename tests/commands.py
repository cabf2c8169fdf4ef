"""Command lines without the start of a process: packages are imported once, and each command is a fork of that process.

Usage: ``python commands.py PACKAGE ...``, then one JSON request per line on standard input: ``{"program", "folder",
"environment", "arguments"}``; each answer is a line ``{"code", "text"}`` with what the command ends with and says. A
fork has nothing of mklearn loaded, so that it imports that of the folder, as the command would. If Snakemake is among
the packages, each job of a run is a fork of the run, without the two seconds that its imports take.
"""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = {"snakemake": "snakemake.cli", "mklearn": "mklearn.__main__"}


class Commands:
    """A process that has imported some packages; it ends with the input that it reads from."""

    def __init__(self, *packages: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, *packages], env=os.environ | environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, program: str, *arguments: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
        request = {"program": program, "folder": str(folder), "environment": environment, "arguments": arguments}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        done = json.loads(self._process.stdout.readline())
        return done["code"], done["text"]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            command(request, printed.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed.seek(0)
        return {"code": code, "text": printed.read().decode(errors="replace")}


def command(request: dict[str, Any], output: int) -> None:
    """Run the command line of snakemake or of mklearn in this process; do not return."""

    def run() -> int:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # not the requests
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[:0] = request["environment"]["PYTHONPATH"].split(os.pathsep)
        sys.argv = [request["program"], *request["arguments"]]
        sys.dont_write_bytecode = True
        module = importlib.import_module(PROGRAMS[request["program"]])
        return module.main(request["arguments"]) or 0

    leave_after(run)


def leave_after(run: Callable[[], int]) -> None:
    """End this process with the code that ``run`` returns or leaves with, or with 1 and a traceback."""
    code = 1
    try:
        code = run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def fork_scripts() -> None:
    """Let Snakemake run a job's script in a fork of its own process, not in a new interpreter."""
    from snakemake.benchmark import benchmarked
    from snakemake.script import PythonScript

    def execute_script(job: Any, path: str, edit: bool = False) -> None:
        assert job.conda_env is job.container_img is None, "jobs in another environment need its interpreter"
        child = os.fork()
        if child == 0:
            script(path, job.threads)
        with benchmarked(child, job.bench_record):
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise subprocess.CalledProcessError(code, [sys.executable, path])

    PythonScript.execute_script = execute_script


def script(path: str, threads: int) -> None:
    """Run a script in this process as if it were new; do not return."""

    def run() -> int:
        for sent in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sent, signal.SIG_DFL)
        os.environ["OMP_NUM_THREADS"] = str(threads)
        sys.argv = [path]
        text = Path(path).read_text(encoding="utf-8")
        exec(compile(text, path, "exec"), {"__name__": "__main__", "__file__": path})
        return 0

    leave_after(run)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, whose folders would be packages
    for package in sys.argv[1:]:
        importlib.import_module(package)
    assert not any(name.split(".")[0] == "mklearn" for name in sys.modules)
    if "snakemake.script" in sys.modules:
        fork_scripts()
    gc.freeze()  # else each fork looks through all that they hold
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
