"""Rule summary: `python -m mklearn step summary` with the job's files and specification."""

from mklearn.steps.runner import run

run("summary", snakemake)
