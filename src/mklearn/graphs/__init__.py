"""Pairs of affinity graphs of classes and of nearest neighbours, as Laplacian operators."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "class_graphs": [
            "ClassOperator", "ClassStructure", "GraphPair", "LaplacianOperator", "MatrixOperator", "between_laplacian",
            "class_structure", "lda_graph", "margin_laplacian", "mmc_graph", "pca_graph", "total_laplacian",
            "within_laplacian",
        ],
        "neighbour_graphs": [
            "UNLABELLED", "PartlyLabelledOperator", "kernel_squared_distances", "lde_graph", "lpp_graph", "mfa_graph",
            "sda_graph",
        ],
    },
)  # fmt: skip
