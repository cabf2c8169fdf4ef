"""Families of kernels: all of one kind, of one kind and scaling, or of one kind and view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
_MOST_VIEWS = 10


def kernel_families(
    specs: Sequence[Mapping[str, Any]], views: Sequence[str], used: Mask, agreements: Mapping[str, float], least: float
) -> dict[str, Mask]:
    """Return the distinct families of kernels by name, as masks of shape (n_kernels,).

    They are formed from the ``used`` kernels, all of which are not a family. The spec of a precomputed kernel has no
    kind. ``views`` holds the view of each kernel. The ten views that agree most with the target, by ``agreements``,
    have their own families if the largest agreement is at least ``least``; without agreements, the first ten have.
    """
    by_agreement = sorted(dict.fromkeys(views), key=lambda view: -agreements.get(view, 0.0))
    alone = by_agreement[:_MOST_VIEWS] if not agreements or max(agreements.values()) >= least else []
    kinds = [str(spec.get("kind", "kernel")) for spec in specs]
    forms = [
        ", ".join(dict.fromkeys([kind, *(str(spec[key]) for key in ("measure", "feature_scaling") if key in spec)]))
        for kind, spec in zip(kinds, specs, strict=True)
    ]
    of_views = [f"{kind} of {view}" if view in alone else "" for kind, view in zip(kinds, views, strict=True)]
    families, distinct = dict[str, Mask](), {used.tobytes()}
    for names in (kinds, forms, of_views):
        for name in dict.fromkeys(names):
            family = used & [each == name for each in names]
            if name and family.any() and family.tobytes() not in distinct:
                distinct.add(family.tobytes())
                families[name] = family
    return families
