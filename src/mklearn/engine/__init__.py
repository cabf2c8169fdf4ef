"""Between Snakemake and the steps: the start and the end of a run, lost fits, failures, explanations."""
