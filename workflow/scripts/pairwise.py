"""Rule pairwise: `python -m mklearn step pairwise` with the job's files and specification."""

from mklearn.steps.runner import run

run("pairwise", snakemake)
