"""Run the step of a rule: `python -m mklearn step NAME` with the job's files and specification."""

from mklearn.study.steps.runner import run

run(snakemake.rule, snakemake)
