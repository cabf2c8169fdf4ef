"""Rule read: `python -m mklearn step read` with the job's files and specification."""

from mklearn.steps.runner import run

run("read", snakemake)
