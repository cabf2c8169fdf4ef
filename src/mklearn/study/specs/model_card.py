"""The card of a model: where it comes from, what its predictions need beside the estimator, what can be expected."""

from __future__ import annotations

import html
from typing import Any, Literal

from mklearn.errors import printable
from mklearn.study.specs.data_specs import FeatureType, TargetKind
from mklearn.study.specs.fit_spec import Impute
from mklearn.study.specs.model import Strict


class NamedView(Strict):
    """A table, or a descriptor of images with its parameters."""

    name: str
    """Its name in the study."""
    kind: str
    """Kind of the descriptor; ``table`` for a table of the user's own."""
    parameters: dict[str, Any] = {}
    """Parameters of the descriptor; of a table its name in the study."""
    dtype: FeatureType | None = None
    """Type of the features; None: as the descriptor gives them."""

    @property
    def table(self) -> str:
        """Name of its table in the study; its own of what is no table."""
        return str(self.parameters.get("table", self.name))


class CardView(NamedView):
    """A view of the model."""

    n_features: int
    array: str | None = None
    """Name of the array of a table's file, where it has several."""
    columns: list[str] | None = None
    """Names of the features of a table, in order; None where they are not known."""
    learned: list[str] = []
    """Names of arrays beside the estimator that the descriptor has learned from images: ``VIEW/NAME``."""


class CardImages(Strict):
    """How images are read before they are described."""

    colour: Literal["grey", "rgb"] = "grey"
    resize: dict[str, Any] | None = None
    """Arguments of :func:`mklearn.study.data.resizing.resize_images`; None keeps the size."""
    shape: list[int] | None = None
    """Shape after resizing; None if the training images have several."""
    dtype: str = "uint8"


class CardTables(Strict):
    """What the columns of tables hold that are no features."""

    id_column: str = "id"
    id_prefix: int | None = None
    """Number of characters of an id that count; None: all."""
    label_column: str = "label"
    group_column: str | None = None
    task: TargetKind = "classes"
    """What the column of labels holds."""
    leave_out: list[str] = []
    """Columns that are no features."""
    missing_labels: list[str] | None = None
    """Words that stand for no label; None: those of :mod:`mklearn.study.data.text_tables`."""

    @property
    def text_columns(self) -> list[str]:
        """Columns that hold no features, beside the ids."""
        return [name for name in (self.label_column, self.group_column, *self.leave_out) if name]


class CardNumbers(Strict):
    """The numbers that a model has learned to predict."""

    name: str
    low: float
    high: float
    mean: float


class CardData(Strict):
    """The samples that the model was fitted on."""

    name: str
    title: str
    n_samples: int
    classes: dict[str, int]
    """Number of training samples of each class; none where a number is predicted."""
    numbers: CardNumbers | None = None
    """The numbers of the training samples, where a number is predicted."""
    digest: str
    """sha256 of ids, labels and features."""


class CardMethod(Strict):
    """The method with its chosen parameters."""

    name: str
    """Its key in the study."""
    title: str
    kind: str
    input: Literal["views", "images"] = "views"
    """What the estimator takes: named views, or images as matrices."""
    kernels: dict[str, dict[str, Any]] = {}
    """Its kernels by name; empty for methods on features."""
    parameters: dict[str, Any] = {}
    """Parameters that the estimator is constructed with, without ``kernels``."""
    impute: Impute = "none"
    """How missing values of features are filled in; a sample may then lack some."""
    feature_scaling: str | None = None
    """The scaling that the training samples have chosen for features side by side; None where there was no choice."""


class CardExpectation(Strict):
    """What the study measured of the method, with fewer training samples than the model has, or on samples apart."""

    metric: str
    value: float
    low: float | None
    """Lower end of the interval of 95 %; None where there are too few splits."""
    high: float | None
    protocol: str
    """Name of the protocol in the study's tables."""
    train_size: int | None
    """Training samples of each class, where the protocol has such sizes."""
    n_splits: int
    chosen_among: int = 1
    """Number of methods of which this one was chosen by the same value: if several, it is optimistic."""
    apart: bool = False
    """Whether it was measured on samples that are not among the model's."""


class ModelCard(Strict):
    """The card of a model that a study has made."""

    study: str
    data: CardData
    views: list[CardView]
    images: CardImages | None = None
    tables: CardTables | None = None
    method: CardMethod
    expected: CardExpectation

    def as_markdown(self, versions: dict[str, str]) -> str:
        """Return the card for people."""
        data, method, expected = self.data, self.method, self.expected
        classes = ", ".join(f"{_escaped(name)} ({count})" for name, count in data.classes.items())
        lines = [
            f"# Model of study {self.study}",
            "",
            f"{_escaped(method.title)} (`{method.name}`, {method.kind}), fitted on "
            f"{'the' if expected.apart else 'all'} {data.n_samples} {'training ' if expected.apart else ''}samples of "
            f"{_escaped(data.title)}.",
            "",
            f"- Classes, with training samples: {classes}" if data.numbers is None
            else f"- Predicts {_escaped(data.numbers.name)}: {data.numbers.low:g} to {data.numbers.high:g} among the "
            f"training samples, mean {data.numbers.mean:.4g}",
            f"- Expected {_expected(expected)}",
            *([f"- This is optimistic: the method was chosen among {expected.chosen_among} by the same value"]
              if expected.chosen_among > 1 else []),
            f"- Data: sha256 {data.digest}",
            *([f"- Images: {_images(self.images)}"] if self.images is not None else []),
            "",
            "| view | descriptor | features | parameters |",
            "| --- | --- | --- | --- |",
            *(f"| {view.name} | {view.kind} | {view.n_features} | {_values(view.parameters)} |" for view in self.views),
            "",
            *(_kernel_lines(method)),
            f"Parameters: {_values(method.parameters)}"
            + (f"; feature scaling chosen: {method.feature_scaling}" if method.feature_scaling else "") + ".",
            "",
            f"Versions: {', '.join(f'{name} {version}' for name, version in versions.items())}.",
            "",
        ]  # fmt: skip
        return "\n".join(lines)


def _expected(expected: CardExpectation) -> str:
    size = "" if expected.train_size is None else f", {expected.train_size} training samples per class"
    interval = "" if expected.low is None else f" [{_number(expected.low)}, {_number(expected.high)}]"
    value = f"{expected.metric}: {_number(expected.value)}{interval} in the study (protocol {expected.protocol}{size}"
    if expected.apart:
        return f"{value}, one test set), on samples that neither the model nor the choice of its method has seen"
    return f"{value}, {expected.n_splits} splits); the model has more training samples than the fits behind this value"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if 0.01 <= abs(value) < 1e5 else f"{value:.3g}"


def _images(images: CardImages) -> str:
    shape = " x ".join(map(str, images.shape)) if images.shape else "several sizes"
    how = "as they are" if images.resize is None else f"resized ({images.resize.get('interpolation', 'area')})"
    return f"{images.colour}, {shape} pixels, {how}"


def _kernel_lines(method: CardMethod) -> list[str]:
    if not method.kernels:
        return []
    rows = [
        f"| {name} | {spec.get('view', '')} | {_values({k: v for k, v in spec.items() if k != 'view'})} |"
        for name, spec in method.kernels.items()
    ]
    return ["| kernel | view | parameters |", "| --- | --- | --- |", *rows, ""]


def _values(values: dict[str, Any]) -> str:
    return ", ".join(_escaped(f"{name} {value}") for name, value in values.items()) or "none"


def _escaped(text: str) -> str:
    """Return a text that is neither HTML nor the end of a cell or line in Markdown."""
    return html.escape(printable(" ".join(text.split())), quote=False).replace("|", "\\|")
