"""Rule run_record: `python -m mklearn step run_record` with the job's files and specification."""

from mklearn.steps.runner import run

run("run_record", snakemake)
