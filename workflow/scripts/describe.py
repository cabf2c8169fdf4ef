"""Rule describe: `python -m mklearn step describe` with the job's files and specification."""

from mklearn.steps.runner import run

run("describe", snakemake)
