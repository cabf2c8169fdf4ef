"""Rule scores: `python -m mklearn step scores` with the job's files and specification."""

from mklearn.steps.runner import run

run("scores", snakemake)
