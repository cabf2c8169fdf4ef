"""Command lines without the start of a process: Snakemake is imported once, and each command is a fork of that process.

Usage: ``python planner.py``, then one JSON request per line on standard input: ``{"program", "folder", "environment",
"arguments"}``; each answer is a line ``{"code", "text"}`` with what the command ends with and says. A fork has nothing
of mklearn loaded, so that it imports that of the folder, as the command would.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import tempfile
import traceback
from typing import Any

PRELOADED = (
    "pandas", "psutil", "pydantic", "yaml", "snakemake.cli", "snakemake.dag", "snakemake.executors.dryrun",
    "snakemake.executors.local", "snakemake.persistence.file", "snakemake.scheduling.job_scheduler",
    "snakemake.script", "snakemake.workflow",
)  # fmt: skip
"""What every run imports, other than mklearn."""
PROGRAMS = {"snakemake": "snakemake.cli", "mklearn": "mklearn.__main__"}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            command(request, said.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        return {"code": code, "text": said.read().decode(errors="replace")}


def command(request: dict[str, Any], output: int) -> None:
    """The command line of snakemake or of mklearn, in this process; does not return."""
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
    for module in PRELOADED:
        importlib.import_module(module)
    assert not any(name.split(".")[0] == "mklearn" for name in sys.modules)
    gc.freeze()  # else each fork looks through all that they hold
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
