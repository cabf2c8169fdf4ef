"""Command lines without the start of a process: packages are imported once, and each command is a fork of that process.

Usage: ``python commands.py PACKAGE ...``, then one JSON request per line on standard input: ``{"program", "folder",
"environment", "arguments"}``; each answer is a line ``{"code", "text"}`` with what the command ends with and says. A
fork has nothing of mklearn loaded, so that it imports that of the folder, as the command would.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
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
        """Run a command line; return its exit status and what it says."""
        request = {"program": program, "folder": str(folder), "environment": environment, "arguments": arguments}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        done = json.loads(self._process.stdout.readline())
        return done["code"], done["text"]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            command(request, said.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        return {"code": code, "text": said.read().decode(errors="replace")}


def command(request: dict[str, Any], output: int) -> None:
    """Run the command line of snakemake or of mklearn in this process; do not return."""
    code = 1
    try:
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
        code = module.main(request["arguments"]) or 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, whose folders would be packages
    for package in sys.argv[1:]:
        importlib.import_module(package)
    assert not any(name.split(".")[0] == "mklearn" for name in sys.modules)
    gc.freeze()  # else each fork looks through all that they hold
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
