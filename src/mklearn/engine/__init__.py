"""Between mklearn and Snakemake: locks, scheduling, jobs that died or were left behind, failures, explanations."""
