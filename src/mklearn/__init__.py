"""mklearn: learning from many kernels, as a scikit-learn library and as a Snakemake workflow."""

__version__ = "0.1.0"
