"""Rule pairwise_block: `python -m mklearn step pairwise_block` with the job's files and specification."""

from mklearn.steps.runner import run

run("pairwise_block", snakemake)
