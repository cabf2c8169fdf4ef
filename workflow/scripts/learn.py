"""Rule learn: `python -m mklearn step learn` with the job's files and specification."""

from mklearn.steps.runner import run

run("learn", snakemake)
