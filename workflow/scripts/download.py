"""Rule download: `python -m mklearn step download` with the job's files and specification."""

from mklearn.steps.runner import run

run("download", snakemake)
