# The study and its jobs, read once, and what follows from them for all rules.
#
# A rule has the name of its script, whose function has the names of the rule's inputs and outputs. What depends on the
# study is asked from two objects (src/mklearn/study/jobs.py, resources.py):
#
#   jobs.params("fit")            specification of a job and fingerprint of its code: `spec` and `code`. The function
#                                 takes the specification value by value, or whole if it has a parameter `spec`.
#   requests.of("fit")            memory, run time and licences
#   jobs.input("fit", "labels")   input function: the files of a job of a rule by their name there
#   jobs.all_of("describe")       the files of all jobs of a rule; jobs.keys("describe"): their wildcards
#   jobs.labels                   input function for other rules of {dataset}
#
# <results> is the folder of the study's results, <study> its name. docs/maintainers.md adds a rule step by step.

import os
import shlex
import sys

from mklearn.study.engine.session import open_study
from mklearn.study.resources import Requests

jobs = open_study(config, workflow)
requests = Requests(jobs)


pathvars:
    results=jobs.results,
    study=jobs.study,


# A name, and 16 hex digits of the specification.
wildcard_constraints:
    dataset="[^/]+-[0-9a-f]{16}",
    protocol="[^/]+-[0-9a-f]{16}",
    descriptor="[^/]+-[0-9a-f]{16}",
    landmark_set="[^/]+-[0-9a-f]{16}",
    method="[^/]+-[0-9a-f]{16}",
    measure="[^/]+",
    part="[0-9]+of[0-9]+",
    source="[^/]+",
    file="[^/]+",


# Snakemake 9.27 writes the path of Python into shell commands as it is. Quoted, it names no file.
if os.path.exists(sys.executable):
    sys.executable = shlex.quote(sys.executable)
