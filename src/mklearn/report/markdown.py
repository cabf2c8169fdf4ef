"""The report as Markdown, for a repository: findings and tables."""

from __future__ import annotations

from mklearn.report.page import Content
from mklearn.report.published import Published
from mklearn.report.sections import figure_sections
from mklearn.report.tables import Table, escape_markdown, markdown

NOTE = (
    "Inner CV: mean ± std over repeats, with dimension and parameters chosen by cross-validation inside the "
    "training samples. Oracle: the best dimension of the mean test curve, chosen on the test samples. Differences "
    "are paired; intervals are 95 % corrected resampled intervals (Nadeau and Bengio, 2003), bounded by the "
    "variance of a mean accuracy on the pool of samples where the test part is large, and not corrected for the "
    "number of comparisons."
)


def markdown_report(content: Content) -> str:
    """Return the findings and tables of a report as Markdown."""
    blocks = [f"# {escape_markdown(content.title)}", escape_markdown(content.lead)]
    blocks += [f"> **Not comparable.** {escape_markdown(alert)}" for alert in content.published.alerts]
    blocks += [f"**{escape_markdown(content.findings.headline)}**", NOTE]
    blocks += _published(content.published)
    for table, sentence in zip(content.results, content.findings.settings, strict=True):
        blocks += _table(table, note=escape_markdown(sentence))
    for table in content.picks:
        blocks += _table(table, "Picked kernels: ", figure_sections()["picks"].table_note)
    for table in content.kernel_tables:
        blocks += _table(table, "Kernels: ")
    for table in content.confused:
        blocks += _table(table, "Most confused classes: ")
    if content.failures.rows:
        blocks += _table(content.failures)
    if content.stages is not None:
        blocks += _table(content.stages, note=figure_sections()["time"].table_note)
    return "\n\n".join(blocks) + "\n"


def _table(table: Table, prefix: str = "", note: str = "") -> list[str]:
    """Return a heading from the table's caption, the note, and the table."""
    return list(filter(None, [f"## {prefix}{escape_markdown(table.caption)}", note, markdown(table)]))


def _published(published: Published) -> list[str]:
    """Return published values: the statement, each method over all cells, remarks, a table for each source."""
    blocks = [escape_markdown(text) for text in (published.statement, published.calibration, published.note) if text]
    if published.overview is not None:
        blocks.append(markdown(published.overview))
    if published.remarks:
        lines = (f"- **{escape_markdown(who)}**: {escape_markdown(text)}" for who, text in published.remarks)
        blocks.append("\n".join(lines))
    for table in published.tables:
        blocks += [f"### {escape_markdown(table.caption)}", markdown(table)]
    return ["## Published values", *blocks] if blocks else []
