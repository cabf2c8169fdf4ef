# The plan of the study, and the constraints that follow from it.

import os
import shlex
import sys

from mklearn.study.stages.targets import open_study

# Snakemake 9.27 writes the path of Python into shell commands as it is. Quoted, it names no file.
if os.path.exists(sys.executable):
    sys.executable = shlex.quote(sys.executable)
targets = open_study(config, workflow)


wildcard_constraints:
    **targets.wildcard_constraints(),
