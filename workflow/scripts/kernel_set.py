"""Rule kernel_set: `python -m mklearn step kernel_set` with the job's files and specification."""

from mklearn.steps.runner import run

run("kernel_set", snakemake)
