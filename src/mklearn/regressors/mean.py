"""The mean of the training samples, whatever the sample: what every regression method has to beat."""

from __future__ import annotations

from sklearn.dummy import DummyRegressor

from mklearn.cards import CONCATENATED, MethodCard


@MethodCard(
    kind="mean_regressor",
    title="Mean of the training samples",
    about="Predicts the mean of the training samples for every sample.",
    reference="Witten, Frank, Hall 2011 (ZeroR)",
    advice="The error that others have to beat: its R² is 0 or a little below.",
    inputs=CONCATENATED,
    targets=("numbers",),
)
def mean_regressor() -> DummyRegressor:
    """Build a regressor that predicts the mean of the training samples."""
    return DummyRegressor()
