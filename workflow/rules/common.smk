# The study and its jobs, read once, and what follows from them for all rules.
#
# `jobs` (src/mklearn/study/jobs.py) has an input function for each input that depends on the study, and the specification
# and code of the jobs of each rule; `requests` (resources.py there) has their memory, run time, threads and priority.
# <results> is the folder of the study's results, <study> its name.

import os
import shlex
import sys

from mklearn.study.engine.opening import open_study
from mklearn.study.resources import Requests

# Snakemake 9.27 writes the path of Python into shell commands as it is. Quoted, it names no file.
if os.path.exists(sys.executable):
    sys.executable = shlex.quote(sys.executable)
jobs = open_study(config, workflow)
requests = Requests(jobs)


pathvars:
    results=jobs.results,
    study=jobs.study,


wildcard_constraints:
    **jobs.wildcard_constraints(),
