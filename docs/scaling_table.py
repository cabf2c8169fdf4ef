"""Tabulate what the scaling of features changes: ``reports/scaling/differences.csv`` and ``differences.md``.

    python docs/scaling_table.py results/scaling results/scaling-images

The arguments are the result folders of the studies ``scaling.yaml`` and ``scaling-images.yaml``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from paired_differences import REPORTS, differences, markdown, read_results

FOLDER = REPORTS / "scaling"
SCALINGS = ("standard", "unit", "rank", "auto")
DESCRIPTORS = ("pixels", "hog", "lbp")


@dataclass(frozen=True)
class Section:
    """A table: for each column a method and its reference, for each row a data set, or one of its descriptors."""

    title: str
    study: str
    columns: dict[str, tuple[str, str]]
    level: str
    """Heading of the reference's accuracy."""
    descriptors: tuple[str, ...] = ("",)
    """Names that stand for ``{}`` in methods."""

    def pairs(self, descriptor: str) -> list[tuple[str, str]]:
        """Return method and reference of each column."""
        return [
            (method.format(descriptor), reference.format(descriptor)) for method, reference in self.columns.values()
        ]


def _scalings(method: str) -> dict[str, tuple[str, str]]:
    return {scaling: (f"{method}-{scaling}", f"{method}-none") for scaling in SCALINGS}


STANDARD = "kfd-gauss-standard"
SECTIONS = (
    *(
        Section(
            f"{learner.upper()}, {name} kernel, UCI tables: against no scaling", "scaling",
            _scalings(f"{learner}-{kernel}"), "none, %",
        )
        for learner in ("svc", "kfd")
        for kernel, name in (("gauss", "Gaussian"), ("linear", "linear"))
    ),
    *(
        Section(
            f"KFD, {name} kernel, descriptors of images: against no scaling", "scaling-images",
            {title: pair for title, pair in _scalings(f"kfd-{kernel}-{{}}").items() if title != "auto"}, "none, %",
            DESCRIPTORS,
        )
        for kernel, name in (("gauss", "Gaussian"), ("linear", "linear"))
    ),
    Section(
        "UCI tables: against the Gaussian on standardised features", "scaling",
        {
            "logistic regression": ("logistic", "svc-gauss-standard"),
            "SVC: linear, standard": ("svc-linear-standard", "svc-gauss-standard"),
        },
        "SVC, %",
    ),
    Section(
        "UCI tables: kernels and ridge of KFD, against the Gaussian on standardised features with ridges 1e-4 to 1e-1",
        "scaling",
        {
            "with the linear kernel": ("kfd-both", STANDARD),
            "ridge 1e-3": ("kfd-ridge-default", STANDARD),
            "ridges to 1e-2": ("kfd-ridge-short", STANDARD),
        },
        "KFD, %",
    ),
)  # fmt: skip


def table_of(study: str, scores: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the differences of a study's sections, with section, row, column and the reference's accuracy."""
    sections = [section for section in SECTIONS if section.study == study]
    pairs = list(dict.fromkeys(p for section in sections for name in section.descriptors for p in section.pairs(name)))
    found = differences(study, scores, predictions, pairs).set_index(["method", "reference", "dataset"])
    accuracy = 100 * scores.groupby(["method", "dataset"])["value"].mean()
    parts = []
    for section in sections:
        for dataset in scores["dataset"].unique():
            for descriptor in section.descriptors:
                for column, (method, reference) in zip(section.columns, section.pairs(descriptor), strict=True):
                    labels = {
                        "section": section.title, "row": f"{dataset}, {descriptor}".removesuffix(", "),
                        "column": column, "reference_accuracy": accuracy[reference, dataset],
                    }  # fmt: skip
                    of_pair = found.loc[[(method, reference, dataset)]].reset_index()
                    parts.append(of_pair.assign(**labels))
    return pd.concat(parts, ignore_index=True)


def page(table: pd.DataFrame) -> str:
    """Return the sections as Markdown."""
    parts = [
        "# What the scaling of features changes",
        "Difference of accuracies in points and its paired 95 % interval; ten splits. Each scaling is fitted on the "
        "training samples. ▲ and ▼: the interval lies above or below 0, a win or a loss; it is not corrected for the "
        "number of comparisons. Ridges, C and the scaling of `auto` are by inner cross-validation. Made by "
        "`docs/scaling_table.py`.",
    ]
    for section in SECTIONS:
        here = table[table["section"] == section.title]
        columns = {column: column for column in section.columns}
        parts += [f"## {section.title}", markdown(here, columns, by="column", level=section.level)]
    return "\n\n".join(parts) + "\n"


def main(folders: list[str]) -> None:
    """Write both files from the result folders."""
    found = [table_of(folder.name, *read_results(folder)) for folder in map(Path, folders)]
    table = pd.concat(found).round(4)
    FOLDER.mkdir(parents=True, exist_ok=True)
    table.to_csv(FOLDER / "differences.csv", index=False)
    (FOLDER / "differences.md").write_text(page(pd.read_csv(FOLDER / "differences.csv")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
