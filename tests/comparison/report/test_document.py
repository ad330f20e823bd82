"""The page read back as HTML by lxml: complete, self-contained, and only text where files said something."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
from grids.sample_results import HOSTILE, Results, change_rows, changed, empty, sample, unfinished, without_curves
from lxml import etree, html
from msgspec.structs import replace

from realformer_nmt.comparison.report import document

FILES = ["bleu_by_depth.svg", "depth.png", "report.html", "table.csv", "table.md", "table.tex"]


@pytest.fixture(scope="module")
def page() -> html.HtmlElement:
    return html.fromstring(document.page(sample(seeds=2)))


def quick_page(results: Results) -> html.HtmlElement:
    return html.fromstring(document.page(without_curves(results)))


def test_all_files_are_written_whole(tmp_path: Path) -> None:
    document.write(without_curves(sample(seeds=1)), tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == FILES
    assert (tmp_path / "new" / "depth.png").read_bytes().startswith(b"\x89PNG\r\n")
    etree.parse(tmp_path / "new" / "bleu_by_depth.svg")


def test_a_page_of_before_stays_until_the_new_one_is_there(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("before")
    with pytest.raises(TypeError):
        document.write(replace(without_curves(sample(seeds=1)), created=1), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "before"


def test_nothing_is_asked_of_the_network(page: html.HtmlElement) -> None:
    assert page.xpath("//script | //link | //img | //iframe | //object | //form | //base") == []
    assert page.xpath("//a/@href") == ["results.json", "table.md", "table.csv", "table.tex"]  # beside the page
    assert [link for link in page.xpath("//svg//@href | //@src") if not link.startswith("#")] == []
    assert "url(" not in "".join(page.xpath("//style/text()"))


def test_the_policy_allows_this_style_and_nothing_else(page: html.HtmlElement) -> None:
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,) = page.xpath("//style/text()")
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    assert page.xpath("//@style") == []
    assert [name for name in page.xpath("//@*") if getattr(name, "attrname", "").startswith("on")] == []


def test_the_header_says_what_was_run_where(page: html.HtmlElement) -> None:
    results = sample(seeds=2)
    text = " ".join(page.xpath("string(//header)").split())
    machine = "bench: AMD EPYC 9554, 2 cores, 24 GiB, NVIDIA H200"
    for fact in (results.commit, "torch 2.13.0", machine, "Trained 2026-11-20 17:11 UTC to 2026-11-20 17:22 UTC"):
        assert fact in text
    shown = [block.text for block in page.xpath("//header//pre")]
    assert {results.command, results.grid.strip()} <= {block.strip() for block in shown}
    for cell in results.cells:
        assert "\n".join(cell.commands) in shown
        assert cell.fairseq_train in shown


def test_the_head_says_how_large_and_how_long(page: html.HtmlElement) -> None:
    results = sample(seeds=1)
    for cell in results.cells:
        cell.settings.update(encoder_embed_dim=64, decoder_embed_dim=64, tokens_a_step=[500])
    long = results.cells[-1]
    long.curves.valid.append(replace(long.curves.train[-1], update=1500))  # the loss is logged now and then
    text = html.fromstring(document.page(results)).xpath("string(//p[@class='lead'])")
    assert "Width 64, 400 or 1,500 updates, 500 tokens per step." in " ".join(text.split())
    assert "400 updates." in page.xpath("string(//p[@class='lead'])")
    assert page.xpath("//dl[@class='tiles']/div[dt='trainings ended']/dd")[0].text_content() == "20 of 20"


def test_a_table_for_each_metric(page: html.HtmlElement) -> None:
    results = sample(seeds=2)
    panes = page.xpath("//div[contains(@class, 'pane ')]")
    assert [pane.get("aria-label") for pane in panes] == ["sacreBLEU", "chrF2", "validation loss"]
    for pane, metric in zip(panes, results.metrics, strict=True):
        assert len(pane.xpath(".//tbody")) == 2
        assert len(pane.xpath(".//tr[td]")) == len(results.rows)
        means = [row.scores[metric.name].mean for row in results.rows if row.seeds]
        shown = [cell.text for cell in pane.xpath(".//tr/td[1]")]
        assert sorted(float(each.split(" ±")[0]) for each in shown if "failed" not in each) == sorted(
            round(mean, 2) for mean in means
        )
        assert shown.count("failed (stuck)") == 1
        assert len(pane.xpath(".//thead//th")) == (9 if metric.name == results.metric else 7)
    assert page.xpath("//input[@checked]/@id") == ["metric-0"]


def test_a_single_best_is_marked_alone(page: html.HtmlElement) -> None:
    assert [row.findtext("th") for row in page.xpath("//tr[td[@class='best']]")] == ["realformer"]
    note = page.xpath("string(//ul[@class='note']/li[span[@class='best']])")
    assert "all others are significantly worse" in note


def test_ties_are_marked_alike() -> None:
    results = sample(seeds=1)
    tied = [row for row in results.rows if row.depth == "18" and row.seeds]
    change_rows(results, tied.__contains__, best=True, p_best=0.3)
    page = quick_page(results)
    assert len(page.xpath("//td[@class='best']")) == len(tied) == 4
    tile = " ".join(page.xpath("string(//dl[@class='tiles']/div[dt[starts-with(., 'best')]]/dd)").split())
    assert tile.endswith("not significantly better than resi_dual, 18 layers; admin, 18 layers and 1 more")
    note = page.xpath("string(//ul[@class='note']/li[span[@class='best']])")
    assert "the best, and all that are not significantly worse (p ≥ 0.05, Holm)." in note


def test_where_nothing_is_scored_nothing_is_best_and_nothing_failed() -> None:
    page = html.fromstring(document.page(empty()))
    assert page.xpath("//*[@class='best'] | //ul[@class='fallen']") == []
    assert page.xpath("string(//input[@checked]/following::label)") == "sacreBLEU"


def test_what_failed_is_said_at_the_top_with_its_evidence(page: html.HtmlElement) -> None:
    (line,) = page.xpath("//header//ul[@class='fallen']/li")
    assert " ".join(line.text_content().split()).startswith(
        "post_ln, 18 layers: stuck. nll 5.97 bits after 300 updates"
    )


def test_every_cell_has_its_curves(page: html.HtmlElement) -> None:
    cells = page.xpath("//details[@class='cell']")
    drawn = {"post_ln": 3, "pre_ln": 3, "admin": 4, "realformer": 4, "resi_dual": 3}
    results = sample(seeds=2)
    families = {cell.name: cell.family for cell in results.cells}
    names = [cell.findtext(".//span") for cell in cells]
    assert sorted(names) == sorted(families)
    assert [len(cell.xpath(".//svg")) for cell in cells] == [drawn[families[name]] for name in names]
    assert "unigram entropy is 5.90" in page.xpath("string(//p[@class='evidence'])")


def test_an_unfinished_comparison_says_so() -> None:
    page = html.fromstring(document.page(unfinished()))
    status = " ".join(page.xpath("string(//p[@role='status'])").split())
    assert status.startswith("Not finished. 10 cells: 1 done, 1 running, 1 error, 7 waiting.")
    assert quick_page(sample(seeds=1)).xpath("//p[@role='status']") == []


def test_hostile_text_is_text() -> None:
    hostile = document.page(changed(sample(seeds=1), lambda text: text + HOSTILE))
    page = html.fromstring(hostile)
    assert page.xpath("//script | //img") == []
    assert len(page.xpath("//style")) == 1
    results = sample(seeds=1)
    assert page.xpath("string(//h1)") == results.title + HOSTILE
    sentences = "".join(page.xpath("//article//text()"))
    for example in results.examples:
        assert example.source + HOSTILE in sentences
        assert example.reference + HOSTILE in sentences
    assert [mark for mark in page.xpath("//svg//text()") if HOSTILE in mark]
    assert not re.search(r"<(script|img)", hostile)
