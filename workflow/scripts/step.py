"""Run the step of a rule: `python -m mklearn step NAME` with the job's files and specification."""

import os
import sys

from mklearn.study.steps.runner import run

run(snakemake.rule, snakemake)
sys.stdout.flush()
os._exit(0)  # taking down all that a step has loaded costs each job a quarter of a second
