# The study and its jobs, read once, and settings for all rules.
#
# A rule and its script share a name, and the parameters of the script's function are named after the rule's inputs and
# outputs. Two objects provide everything that depends on the study (src/mklearn/study/jobs.py, resources.py):
#
#   jobs.params("fit")            `spec`, the specification of a job, and `code`, the fingerprint of its code. The
#                                 function takes the specification value by value, or as one parameter `spec`.
#   requests.of("fit")            memory and run time
#   jobs.input("fit", "sources")  input function for the files of one named input of a rule
#   jobs.all_of("read", "labels") one output, by default the first, of all jobs of a rule
#   jobs.keys("read")             their wildcards, a mapping for each job
#   jobs.code("mine")             fingerprint of the script of a rule that you add, as its parameter `code`; without it
#                                 edits of the script run nothing again
#
# Scripts get `record` (where results come from) and `threads` from `run_script`, if their function takes them.
#
# <results> is the results folder, <study> the name of the study. docs/maintainers.md shows how to add a rule.

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


# Most keys are a name followed by 16 hex digits of the specification's hash.
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


# Snakemake 9.27 inserts the path of Python into shell commands unquoted. Once quoted, it is not the path of a file.
if os.path.exists(sys.executable):
    sys.executable = shlex.quote(sys.executable)
