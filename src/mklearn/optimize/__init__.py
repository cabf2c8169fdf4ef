"""Solvers on arrays: eigenproblems, trace ratio, kernel weights, and the choice of a convex solver.

The solvers of support vector machines do not check their input: the estimators in `mklearn.classifiers` do.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "eigen": ["fix_signs", "generalized_eigh"],
        "trace_ratio": ["TraceRatio", "trace_ratio"],
        "solvers": ["mosek_problem", "resolve_solver"],
        "kernel_weights": ["KernelWeights", "kernel_weights"],
        "convex_ratio_trace": ["ConvexRatioTrace", "RatioTraceObjective", "between_factor", "convex_ratio_trace"],
        "leave_one_out_ridge": ["LeaveOneOutRidge", "LeaveOneOutWeights", "class_targets", "leave_one_out_weights"],
        "simplex_qp": ["SimplexQP", "simplex_qp"],
        "whitening": ["Whitening", "power_whitening"],
    },
)
