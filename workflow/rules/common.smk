# The plan of the study, and the constraints that follow from it.

import os
import shlex
import sys

from mklearn.study.stages.targets import open_study

if os.path.exists(sys.executable):  # else it has quotes already
    sys.executable = shlex.quote(
        sys.executable
    )  # Snakemake 9.27 writes it into shell commands as it is
targets = open_study(config, workflow)


wildcard_constraints:
    **targets.wildcard_constraints(),
