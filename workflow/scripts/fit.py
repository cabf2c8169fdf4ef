"""Fit a method on every split of a protocol, and predict the test samples."""

from pathlib import Path

from mklearn.contract.fit_spec import FitSpec
from mklearn.study.script import Output, run_script
from mklearn.study.steps.fit import fit as fit_step


def fit(
    labels: Path, splits: Path, matrices: list[Path] | None = None, sources: list[Path] | None = None,
    projections: list[Path] | None = None, landmarks: Path | None = None, moments: list[Path] | None = None,
    blocks: list[Path] | None = None, *, scores: Output, model: Output, predictions: Output, spec: FitSpec,
) -> None:  # fmt: skip
    """Fit."""
    fit_step(
        labels, splits, scores, model, predictions, spec=spec, matrices=matrices, sources=sources,
        projections=projections, landmarks=landmarks, moments=moments, blocks=blocks,
    )  # fmt: skip


if __name__ == "__main__":
    run_script(fit, globals().get("snakemake"))
