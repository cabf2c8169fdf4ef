"""The page in a browser: it draws, sorts, fits a phone, follows the scheme, prints, runs nothing foreign."""

import csv
import itertools
import re
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.unit.study.report.conftest import HOSTILE, METHODS, make_hostile_study, make_study, write_report

from mklearn.study.report.charts import printable

pytestmark = pytest.mark.browser

LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "color_scheme": "dark"}
DRAWN = "html[data-figures=drawn]"
UNFOLD = """() => {
    const setting = document.getElementById("setting");
    if (setting) {
        setting.value = "";
        setting.dispatchEvent(new Event("change"));
    }
    for (const fold of document.querySelectorAll("details")) fold.open = true;
}"""
"""Shows everything that the page has: all settings, all folds."""
ALL_DRAWN = "[...document.querySelectorAll('.chart')].every(box => box.querySelector('svg, .problem'))"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    return write_report(folder, **make_study(repeats=3, sizes=(5, 10)))[0]


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("hostile"), **make_hostile_study())[0]


@contextmanager
def pages_of(browser):
    """Opens pages, waits for their figures, and fails if one logged an error or asked for anything but itself."""
    contexts, troubles, requests = [], [], []

    def opened(path, unfold=True, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1_800_000)
        page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("request", lambda request: requests.append((request.url, path.as_uri())))
        page.goto(path.as_uri())
        page.wait_for_selector(DRAWN, state="attached")
        if unfold:
            page.evaluate(UNFOLD)
            page.wait_for_function(ALL_DRAWN)
            page.wait_for_selector(DRAWN, state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []
    assert [url for url, page in requests if url != page and not url.startswith("data:")] == []


@pytest.fixture
def open_page(browser):
    with pages_of(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(browser, page_file):
    """The page as it opens, with all that it has, and on a phone in dark colours, for tests that leave it as it was."""
    with pages_of(browser) as opened:
        yield SimpleNamespace(
            folded=opened(page_file, unfold=False, **LAPTOP),
            whole=opened(page_file, **LAPTOP),
            phone=opened(page_file, **PHONE),
        )


def test_every_figure_is_drawn_and_the_page_is_small(shared, page_file):
    assert page_file.stat().st_size < 1_000_000
    figures = shared.whole.eval_on_selector_all(
        ".chart",
        """boxes => boxes.map(box => {
            const svg = box.querySelector("svg"), size = svg?.getBoundingClientRect();
            const marks = svg?.querySelectorAll(".mark-line path, .mark-symbol path, .mark-rect path, .mark-rule line");
            return [box.dataset.figure, size?.width ?? 0, size?.height ?? 0, marks?.length ?? 0,
                    svg?.closest("[aria-label]")?.getAttribute("aria-label") ?? ""];
        })""",
    )
    assert len(figures) >= 10
    for slug, width, height, marks, alt in figures:
        assert (width > 200, height > 60, marks > 2, "Digits" in alt, len(alt) > 50) == (True,) * 5, slug
    assert shared.whole.locator("figure figcaption").count() == len(figures)


@pytest.mark.parametrize("of_numbers", [False, True])
def test_axe_finds_nothing(of_numbers, shared, report_of_numbers, open_page):
    page = open_page(report_of_numbers / "index.html", color_scheme="dark") if of_numbers else shared.phone
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert len(found.response["passes"]) > 20


def test_columns_sort_by_click_and_by_keyboard(open_page, page_file):
    page = open_page(page_file)
    table = page.locator("#results table").first

    def column(number):
        return table.locator(f"tbody tr > :nth-child({number + 1})").all_inner_texts()

    heads = table.locator("thead th")
    assert heads.nth(1).get_attribute("aria-sort") == "descending"
    first = [float(text.split()[0]) for text in column(1) if text != "–"]
    assert first == sorted(first, reverse=True)
    heads.nth(1).locator("button").click()
    assert heads.nth(1).get_attribute("aria-sort") == "ascending"
    assert [float(text.split()[0]) for text in column(1) if text != "–"] == sorted(first)
    assert column(1)[-1] == "–", "cells without a value stay last"
    heads.nth(0).locator("button").focus()
    page.keyboard.press("Enter")
    assert heads.nth(1).get_attribute("aria-sort") is None
    names = [name.lower() for name in column(0)]
    assert names == sorted(names)
    time = heads.filter(has_text="Time")
    time.locator("button").click()
    assert time.get_attribute("aria-sort") == "ascending", "the fastest first"
    other = page.locator("#results table").nth(1).locator("th[aria-sort]")
    assert other.inner_text().startswith("Time"), "the tables of all settings alike"


def test_the_first_screen_has_the_answer_a_figure_and_the_top_of_the_table(shared):
    sizes = "all => all.filter(box => box.checkVisibility()).map(box => box.scrollWidth - box.clientWidth)"
    assert shared.folded.eval_on_selector_all(".of-results", sizes) == [0]
    setting = ".setting:not(.other)"
    shown = (".headline", f"{setting} figure svg", f"{setting} tbody tr:nth-child(3)", "#about")
    boxes = [shared.folded.locator(place).first.bounding_box() for place in shown]
    for above, below in itertools.pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]
    assert boxes[2]["y"] + boxes[2]["height"] <= 800


@pytest.mark.parametrize("hostile", [False, True])
def test_a_phone_needs_no_sideways_scrolling(hostile, open_page, shared, hostile_file):
    page = open_page(hostile_file, **PHONE) if hostile else shared.phone
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    right = "all => Math.max(...all.map(svg => svg.getBoundingClientRect().right))"
    assert page.eval_on_selector_all(".chart svg", right) <= 390


def test_figures_follow_the_colour_scheme(open_page, page_file):
    page = open_page(page_file, unfold=False, color_scheme="dark")
    ink = "() => document.querySelector('.chart svg .role-title-text text').getAttribute('fill')"
    background = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ink), page.evaluate(background)
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("html[data-scheme=light][data-figures=drawn]", state="attached")
    light = page.evaluate(ink), page.evaluate(background)
    brightness = [sum(int(code[i : i + 2], 16) for i in (1, 3, 5)) for code, _ in (dark, light)]
    assert brightness[0] > 600
    assert brightness[1] < 200
    assert dark[1] != light[1]


def test_hostile_names_are_only_text(open_page, hostile_file):
    page = open_page(hostile_file)
    assert page.evaluate("window.broken") is None
    text = " ".join(page.inner_text("body").split())
    forms = {name: {" ".join(form.split()) for form in (name, printable(name))} for name in HOSTILE}
    assert [name for name, either in forms.items() if not any(form in text for form in either)] == []
    assert page.locator("a[href^='javascript']").count() == 0
    assert page.locator(".problem").count() == 0
    assert page.locator(".chart svg").count() == page.locator(".chart").count()


def test_what_is_not_the_answer_is_folded_and_drawn_when_it_is_opened(open_page, page_file):
    page = open_page(page_file, unfold=False, **LAPTOP)
    shown = "boxes => boxes.filter(box => box.querySelector('svg')).map(box => box.closest('figure').className)"
    assert page.eval_on_selector_all(".chart", shown) == ["results"]
    page.click("nav a[href='#dimension']")
    page.wait_for_function("document.querySelectorAll('#dimension .chart svg').length == 2")
    assert page.locator("#dimension").get_attribute("open") is not None
    assert page.locator("#weights svg").count() == 0
    page.goto(f"{page_file.as_uri()}#weights")
    page.wait_for_function("document.querySelectorAll('#weights .chart svg').length > 0")
    for fold in page.locator("details.fold > summary").all():
        assert fold.locator("h2").count() == 1


def test_one_row_for_each_method_in_the_setting_that_is_chosen(open_page, page_file):
    page = open_page(page_file, unfold=False)
    assert page.locator("#results tbody tr:visible").count() == len(METHODS)
    page.select_option("#setting", label="Digits 8 × 8, training size 10")
    page.wait_for_selector(DRAWN, state="attached")
    assert page.locator("#results h3:visible").all_inner_texts() == ["Digits 8 × 8, training size 10"]
    assert page.locator("#results figure svg:visible").count() >= 1


def saved(page, button):
    with page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_tables_numbers_and_references_are_saved(shared, page_file):
    table = shared.folded.locator("#results .setting").first
    name, content = saved(shared.folded, table.locator(".files button", has_text="CSV"))
    assert name == "digits-8-8-training-size-5.csv"
    rows = list(csv.reader(content.decode("utf-8").splitlines()))
    assert rows[0][:3] == ["Method", "Test accuracy, chosen by inner CV, %", "Difference to uniform average, points"]
    assert len(rows) == 7, "the rows that are shown"
    assert {len(row) for row in rows} == {len(rows[0])}
    assert all(re.fullmatch(r"\d+\.\d ± \d+\.\d", row[1]) for row in rows[1:6])
    files = {name: saved(shared.whole, shared.whole.locator("button", has_text=name))[1] for name in (
        "summary.csv", "results.tex", "references.bib")}  # fmt: skip
    assert files["summary.csv"] == (page_file.parent / "summary.csv").read_bytes()
    assert rb"Test accuracy, chosen by inner CV, \%" in files["results.tex"]
    assert b"@misc{data-digits," in files["references.bib"]
    evil = {"=1+1": "'=1+1", "+1.5 [−0.2, 1]": '"+1.5 [-0.2, 1]"', "@x": "'@x", 'a"b': '"a""b"', "−0.3": "-0.3"}
    made = shared.folded.evaluate(
        """texts => {
            const table = document.createElement("table");
            for (const text of texts) table.insertRow().insertCell().textContent = text;
            return window.tables.csv(table);
        }""",
        list(evil),
    )
    assert made.splitlines() == list(evil.values()), "text to spreadsheets, not formulas"


def test_without_a_script_nothing_is_lost(browser, page_file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator("#results tbody tr:visible").count() == 2 * len(METHODS)
    assert page.locator("#results h3:visible").count() == 2
    assert page.locator(".controls:visible, .files").count() == 0
    page.click("#run > summary")
    page.click("#run summary:has-text('BibTeX')")
    assert "@misc" in page.inner_text("#run pre[data-file]")
    context.close()


def test_print_has_tables_of_results_and_no_diagnostics(open_page, page_file, tmp_path):
    page = open_page(page_file, unfold=False, color_scheme="dark")
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").stat().st_size > 50_000
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#results table:visible").count() == 2, "every setting"
    assert page.locator("#results figure svg:visible").count() >= 1
    share = "grid => grid.firstElementChild.offsetWidth / grid.offsetWidth"
    assert page.locator("#results .grid.single").first.evaluate(share) > 0.6, "half a page would cut long titles"
    assert page.locator("#published table:visible").count() > 0
    assert page.locator("#failures table:visible").count() == 1
    assert page.locator("figure:visible:not(:has(svg))").count() == 0, "no empty box"
    for gone in ("nav", ".controls", ".files", "#dimension", "#embedding", "#kernels", "#weights"):
        assert page.locator(f"{gone}:visible").count() == 0, gone
