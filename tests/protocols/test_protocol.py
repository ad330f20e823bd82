"""The protocols against the papers' table; a file of one's own."""

from pathlib import Path
from typing import Any

import pytest
from grids.paper_table import EVERYWHERE, NAMES, ROWS, Row
from recipe_scripts.printed import dry_run, flags

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.allowed_flags import ALLOWED
from realformer_nmt.protocols.protocol import FOLDER, load, shipped

SEED = 'base = "realformer"\n[train]\nseed = '


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_command_is_the_papers(row: Row, tmp_path: Path, capsys: Any) -> None:
    words = dry_run(
        *(capsys, "--data", tmp_path / "none", "--folder", tmp_path, "--arch", "realformer", "--layers", row.layers),
        *("--protocol", row.protocol, "--corpus", row.corpus, "--gpus", row.gpus, "--subwords", "moses_bpe"),
    )
    options = flags(words)
    encoder, _, decoder = row.layers.partition("-")
    assert (options["encoder-layers"], options["decoder-layers"]) == (float(encoder), float(decoder or encoder))
    assert (options["optimizer"], options["lr"], options["lr-scheduler"]) == (row.optimizer, row.lr, row.schedule)
    assert options["warmup-updates"] == row.warmup
    assert options[row.length[0]] == row.length[1]
    assert (options["max-tokens"], options["update-freq"]) == (row.max_tokens, row.update_freq)
    assert row.gpus * options["max-tokens"] * options["update-freq"] == row.tokens
    assert ("nproc-per-node" in options, options.get("nproc-per-node", 1)) == (row.gpus > 1, row.gpus)
    assert options.get("distributed-world-size", 1) == row.gpus
    assert (options["fp16"], options["fp16-scale-window"]) == (True, 256)
    assert {name: options[name] for name in EVERYWHERE} == EVERYWHERE
    width, ffn, heads = (256, 1024, 4) if row.corpus == "iwslt14_de_en" else (512, 2048, 8)
    for side in ("encoder", "decoder"):
        assert [options[f"{side}-{name}"] for name in ("embed-dim", "ffn-embed-dim", "attention-heads")] == [
            *(width, ffn, heads)
        ]
    residual = row.protocol == "residual"
    assert (options["dropout"], options["weight-decay"]) == ((0.3, 1e-4) if residual else (0.1, 0))
    keep_option = {"last": "keep-last-epochs", "best": "keep-best-checkpoints"}[row.average[0]]
    assert options[keep_option] == row.average[1]
    assert ("total-num-update" in options) == (row.schedule == "linear")


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_averaging_and_decoding_are_the_papers(row: Row) -> None:
    protocol = load(row.protocol, row.corpus, row.layers)
    assert protocol.averaging == [f"--{row.average[0]}", str(row.average[1])]
    assert flags(protocol.decoding) == row.decoding


def test_the_table_shows_the_arithmetic(capsys: Any) -> None:
    assert main(["protocol", "realformer", "--corpus", "wmt14_en_fr", "--layers", "60-12"]) == 0
    assert "16 GPUs x 5,000 tokens x 16 = 1,280,000" in capsys.readouterr().out


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_the_arithmetic_in_a_file_is_right(file: Path) -> None:
    """A comment `N GPUs x T tokens x F = S a step` stands beside each update_freq, and says what load() says."""
    for line in file.read_text().splitlines():
        if line.startswith("update_freq"):
            value, comment = line.split("#")
            product, total = comment.removesuffix("a step").split("=")[0], comment.split("=")[1].split()[0]
            gpus, tokens, freq = (int(part.split()[0].replace(",", "")) for part in product.split(" x "))
            assert gpus * tokens * freq == int(total.replace(",", ""))
            assert freq == int(value.split("=")[1])
    step_sizes = {load(name, row.corpus, row.layers).tokens_a_step for name in shipped() for row in ROWS}
    assert {row.tokens for row in ROWS} <= step_sizes


def test_a_file_of_ones_own_says_only_what_differs(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('base = "realformer"\nepochs = 7\n[train]\ndropout = 0.25\n')
    mine, base = load(str(file), "wmt14_en_fr"), load("realformer", "wmt14_en_fr")
    assert (mine.name, mine.epochs, mine.train["dropout"]) == ("mine", 7, 0.25)
    assert (mine.lenpen, mine.tokens_a_step) == (0.8, 640_000)
    assert {**mine.train, "dropout": 0.1} == base.train
    file.write_text('base = "realformer"\nlenpen = 1.1\n[train]\nlr = 3e-4\n[corpora.wmt14_en_fr]\nbeam = 7\n')
    mine = load(str(file), "wmt14_en_fr", "60-12")
    assert (mine.lenpen, mine.train["lr"], mine.beam, mine.tokens_a_step) == (1.1, 3e-4, 7, 1_280_000)
    file = tmp_path / "realformer.toml"
    file.write_text('base = "realformer"\nprecision = "int8"\n')
    assert load(str(file), "wmt14_en_fr").decoding == [*base.decoding, "--precision", "int8"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base = "realformer"\nepoch = 7', "key epoch is not one of .*did you mean epochs"),
        ('base = "realformer"\nupdates = 7', "either epochs or updates"),
        ('base = "realformer"\nbeam = "four"', "beam: allowed is a whole number, given was 'four'"),
        ('base = "realformer"\nlenpen = nan', "mine.toml: lenpen nan: allowed is a finite number, -10 to 10"),
        ('base = "realformer"\nmax_len_b = 0', "mine.toml: max_len_a=0, max_len_b=0: allowed is 1 token or more"),
        (SEED + '"x"', "mine.toml: train: seed 'x': allowed is a whole number, 0 to 4,294,967,295"),
        ('base = "realformer"\n[layers.x.train]\nlr = 1', "mine.toml: layers.x: allowed is a depth, such as 18"),
        ('base = "none"', "none.toml: No such file"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(UserError, match=message):
        load(str(file))


@pytest.mark.parametrize("table", ["18", "18-18"])
def test_a_depth_that_is_written_for_both_sides_is_the_same_depth(table: str, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'base = "small"\n[layers.{table}.train]\ndropout = 0.4\n[corpora.a-a.train]\ndropout = 0.5\n')
    read = {layers: load(str(file), "a", layers).train["dropout"] for layers in ("18", "18-18", "18-6", "8-18", "6")}
    assert read == {"18": 0.4, "18-18": 0.4, "18-6": 0.1, "8-18": 0.1, "6": 0.1}


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_a_flag_that_the_command_would_override_is_refused(precision: str, tmp_path: Path, capsys: Any) -> None:
    """fairseq-train follows the last of two flags, and those of a protocol come first."""
    words = dry_run(
        *(capsys, "--data", tmp_path / "none", "--folder", tmp_path, "--arch", "pre_ln", "--layers", 1),
        *("--protocol", "small", "--gpus", 1, "--precision", precision, "--updates", 9000),
    )
    later = words[words.index(f"--{list(load('small').train)[-1]}") :]
    overriding = sorted(flags(later).keys() & ALLOWED - load("small").train.keys())
    assert {"update-freq", "max-tokens", "log-interval", "keep-last-epochs", precision} <= set(overriding)
    file = tmp_path / "own.toml"
    for name in overriding:
        file.write_text(f'base = "small"\n[corpora.own.train]\n{name} = 7\n')
        load(str(file))
        with pytest.raises(UserError, match=f"own.toml: train: {name} is set by"):
            load(str(file), "own")


def test_an_unknown_protocol_is_refused() -> None:
    for name in ("realfromer", "../protocols/small"):
        allowed = "admin, bert, quickstart, realformer, residual, small, .*, tiny"
        with pytest.raises(UserError, match=f"--protocol {name} is not one of {allowed}"):
            load(name)
