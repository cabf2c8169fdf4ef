"""Open the study that Snakemake has read: check it, and plan its jobs. It runs in every job, and changes nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from mklearn.errors import ConfigError, UserError
from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import SCRIPTS
from mklearn.study.reading import check_study
from mklearn.study.yaml_file import from_folder, read_yaml


def readable(path: str) -> str:
    """Return the path of a study file; end the run if YAML can't read it, where Snakemake's reader has a traceback."""
    try:
        read_yaml(path)
    except UserError as error:
        end_run(error)
    return path


def open_study(config: Mapping[str, Any], workflow: Any) -> Jobs:
    """Check the study that Snakemake has read, and plan it; a mistake ends the run, after all of them were printed."""
    source = ", ".join(os.path.relpath(path) for path in workflow.configfiles)
    try:
        for path in workflow.configfiles:
            read_yaml(path)  # Snakemake's own reader accepts a key twice
        study = from_folder(dict(config), Path(*workflow.configfiles[-1:]).parent)
        scripts = Path(str(workflow.current_basedir)).parent / "scripts"  # of the rules that are being read
        plan = plan_study(check_study(study, source=source))
        return Jobs(plan, source, scripts.resolve() if scripts.is_dir() else SCRIPTS)
    except UserError as error:
        end_run(error)
    except OSError as error:  # a path of the study that the system refuses
        end_run(ConfigError(f"{source}: {error.filename}: {error.strerror}."))


def end_run(error: UserError) -> NoReturn:
    """End the run. Snakemake would add where in our code it was raised, which is no help with a study file."""
    print(f"\nmklearn: {error}\nNothing was run.", file=sys.stderr)
    raise SystemExit(1) from None
