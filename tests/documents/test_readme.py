"""A reader can type what the README and the trial in docs/training.md tell, and the README's figures are right."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from corpus import write_corpus
from fixture_types import Command
from programs import commands
from recipe_scripts.recipe import path_with_fairseq

from realformer_nmt.evaluation.scoring.published import figures
from realformer_nmt.subcommands import SUBCOMMANDS

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return str(text)


def lines(start: str, replaced: dict[str, str]) -> list[str]:
    """Return the commands of the block that starts so, with other figures."""
    (text,) = re.findall(rf"```bash\n({start}.*?)```", README, re.DOTALL)
    for old, new in {"\\\n": " ", **replaced}.items():
        text = text.replace(old, new)
    return text.splitlines()


def test_the_trial(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "training.md").read_text()
    trial = re.search(r"## A trial.*?```bash\n(.*?)```", page, re.DOTALL)
    claim = re.search(r"all (\d+) sentences translated, BLEU of ([\d.]+) or more", page)
    assert trial
    assert claim
    programs, folder = tmp_path / "programs", tmp_path / "cwd"
    folder.mkdir()
    (folder / "realformer_nmt").symlink_to(REPOSITORY / "realformer_nmt")
    run = subprocess.run(
        [str(shutil.which("bash")), "-euc", trial[1].replace("source .venv/bin/activate\n", "")],
        cwd=folder,
        env={**os.environ, "PATH": path_with_fairseq(programs), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert f"Translated {claim[1]} sentences" in run.stderr
    scored = re.search(r"BLEU = ([\d.]+)", run.stdout)
    assert scored
    assert float(scored[1]) >= float(claim[2])
    assert "decoder.layers.1.ffn" in run.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["realformer_nmt", "toy"]


def test_own_text_is_translated_by_the_commands_of_the_readme(tmp_path: Path) -> None:
    """The text is invented, and pieces and updates are few."""
    write_corpus(tmp_path, {"train": 400, "valid": 40, "test": 20}, seed=1)
    for split, name in {"train": "a", "valid": "v", "test": "t"}.items():
        for language in ("en", "de"):
            (tmp_path / f"{split}.{language}").rename(tmp_path / f"{name}.{language}")
    for line in lines("realformer-nmt prepare", {"2000": "400"}):
        short = ["--updates", "4", "--gpus", "0", "--", "--warmup-updates", "2"] if " train " in line else []
        done = commands.run([*commands.OURS, *shlex.split(line)[1:], *short], folder=tmp_path)
        assert done.returncode == 0, done.stderr[-2000:]
    assert len((tmp_path / "run" / "test" / "hypotheses.txt").read_text().splitlines()) == 20
    assert json.loads((tmp_path / "run" / "run.json").read_text())["arch"] == "realformer"
    (tmp_path / "realformer_nmt").symlink_to(REPOSITORY / "realformer_nmt")
    for line in lines("fairseq-train demo", {"demo/data": "data", "-updates 200": "-updates 2", "1000": "4000"}):
        short = ["--max-update", "4"] if "fairseq-train" in line else []
        command, *options = shlex.split(line)
        done = commands.run(commands.fairseq(command.partition("-")[2], *options, *short), folder=tmp_path)
        assert done.returncode == 0, done.stderr[-2000:]
    assert "Generate test with beam=5: BLEU4 = " in done.stdout


def test_the_readme_names_what_there_is() -> None:
    """Targets of make, subcommands, recipes and pages."""
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)", README))
    assert {"demo", "test"} <= named <= targets
    subcommands = set(re.findall(r"realformer-nmt ([a-z][a-z-]+)", README))
    assert "compare" in subcommands <= {subcommand.name for subcommand in SUBCOMMANDS}
    links = set(re.findall(r"\]\(([^)#:]+)\)", README)) | set(re.findall(r"^(recipes/\S+)", README, re.MULTILINE))
    assert [link for link in sorted(links) if not (REPOSITORY / link).exists()] == []


def test_the_grid_of_the_readme_is_that_of_the_demo() -> None:
    assert block("toml") == (REPOSITORY / "recipes" / "quickstart" / "grid.toml").read_text()


def test_the_published_scores_of_the_readme_are_the_papers() -> None:
    datasets = {"wmt14_en_de": "WMT14 En-De", "wmt14_en_fr": "WMT14 En-Fr", "iwslt14_de_en": "IWSLT14"}
    pattern = r"^\| \[[^\]]+\]\(recipes/(\w+)/README\.md\) \| (\w+) (\d+)L-(\d+)L ([\d.]+) \|"
    shown = re.findall(pattern, README, re.MULTILINE)
    assert [recipe for recipe, *_ in shown] == list(datasets)
    for recipe, model, encoder, decoder, bleu in shown:
        cell = (model, int(encoder), int(decoder), float(bleu))
        published = figures(datasets[recipe])
        assert cell in {(each.model, each.encoder_layers, each.decoder_layers, each.bleu) for each in published}


def test_our_scores_and_speeds_in_the_readme_are_the_records() -> None:
    results = REPOSITORY / "docs" / "results"
    rows = json.loads((results / "multi30k_128" / "short.json").read_text())["rows"]
    shallow = [row for row in rows if row["layers"] == [6, 6] and row["family"] != "realformer_post_ln"]
    assert {row["seeds"] for row in shallow} == {3}
    scores = {row["family"]: row["scores"]["bleu"]["mean"] for row in shallow}
    names = {"realformer": "RealFormer", "admin": "ADMIN", "pre_ln": "Pre-LN", "resi_dual": "ResiDual"}
    claim = ", ".join(f"{name} {scores.pop(family):.1f}" for family, name in names.items())
    assert (
        f"(docs/results/multi30k_128/README.md), three seeds: {claim}, Post-LN {scores.pop('post_ln'):.1f} |" in README
    )
    assert not scores
    rows = json.loads((results / "bf16_training_xeon.json").read_text())["rows"]
    speeds = [float(row["against stock"].split()[0]) for row in rows if row["model"].endswith(", bf16")]
    assert f"with `--bf16` and AMX {min(speeds):.1f} to {max(speeds):.1f} |" in README


def test_the_residual_of_the_readme_trains(fairseq: Command, toy_corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_text(block("python"))
    options = ["--arch", "res_post_norm_tiny", "--share-all-embeddings", "--optimizer", "adam", "--lr", "0.001"]
    limits = ["--max-tokens", "1000", "--max-update", "2", "--cpu", "--save-dir", str(tmp_path / "checkpoints")]
    done = fairseq("train", str(toy_corpus), "--user-dir", str(folder), *options, *limits)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "ResPostNorm()" in done.stdout
    assert (tmp_path / "checkpoints" / "checkpoint_last.pt").is_file()
