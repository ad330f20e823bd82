"""A reader can type what the README and the trial in docs/training.md tell."""

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

from realformer_nmt.subcommands import SUBCOMMANDS

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()


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


def test_the_package_that_is_installed_is_the_one_that_fairseq_imports() -> None:
    """A clone's `--user-dir realformer_nmt` is its own folder, where `pip install -e` builds the kernels in C."""
    (install,) = re.findall(r"^pip install (.*)\[all\]", README, re.MULTILINE)
    assert "--user-dir realformer_nmt" in README
    assert install == "-e '."


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


def test_the_grid_shown_is_that_of_the_demo() -> None:
    page = (REPOSITORY / "docs" / "comparing.md").read_text()
    first, *_ = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert first == (REPOSITORY / "recipes" / "quickstart" / "grid.toml").read_text()


def test_the_residual_of_the_readme_trains(fairseq: Command, toy_corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (folder / "__init__.py").write_text(code)
    options = ["--arch", "res_post_norm_tiny", "--share-all-embeddings", "--optimizer", "adam", "--lr", "0.001"]
    limits = ["--max-tokens", "1000", "--max-update", "2", "--cpu", "--save-dir", str(tmp_path / "checkpoints")]
    done = fairseq("train", str(toy_corpus), "--user-dir", str(folder), *options, *limits)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "ResPostNorm()" in done.stdout
    assert (tmp_path / "checkpoints" / "checkpoint_last.pt").is_file()
