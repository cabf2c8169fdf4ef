"""Rule resize: `python -m mklearn step resize` with the job's files and specification."""

from mklearn.steps.runner import run

run("resize", snakemake)
