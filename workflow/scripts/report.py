"""Rule report: `python -m mklearn step report` with the job's files and specification."""

from mklearn.steps.runner import run

run("report", snakemake)
