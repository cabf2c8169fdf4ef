"""Rule split: `python -m mklearn step split` with the job's files and specification."""

from mklearn.steps.runner import run

run("split", snakemake)
