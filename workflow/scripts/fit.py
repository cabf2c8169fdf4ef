"""Rule fit: `python -m mklearn step fit` with the job's files and specification."""

from mklearn.steps.runner import run

run("fit", snakemake)
