"""The card of a model as Markdown: names of the user's own are neither HTML nor tables."""

from __future__ import annotations

from mklearn.study.specs.model_card import CardData, CardExpectation, CardMethod, CardView, ModelCard


def test_names_are_escaped() -> None:
    evil = "a|b <script>\n# x\x1b[2J"
    card = ModelCard(
        study="s",
        data=CardData(name="d", title=evil, n_samples=2, classes={evil: 1, "c": 1}, digest="0"),
        views=[CardView(name="v", kind="table", parameters={"table": evil}, n_features=1)],
        method=CardMethod(name="m", title=evil, kind="kernel_fda", parameters={"x": evil}),
        expected=CardExpectation(
            metric="accuracy", value=0.5, low=None, high=None, protocol="p", train_size=None, n_splits=2
        ),
    )
    text = card.as_markdown({"mklearn": "0"})
    assert text.count("a\\|b &lt;script&gt; # x\\x1b[2J") == 5
    assert "<script>" not in text
    assert "\n# x" not in text
