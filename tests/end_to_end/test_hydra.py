"""fairseq-hydra-train: a preset by name, one of its values overridden."""

from pathlib import Path

from programs.commands import fairseq as command
from programs.processes import run_all, said
from programs.reports import losses, parse
from programs.runs import SENTENCES, Compose, load_state

SETTINGS = """
common: {{cpu: true, user_dir: {user_dir}, log_format: simple, log_interval: 1, seed: 1}}
task: {{_name: translation, data: {data}, source_lang: src, target_lang: tgt}}
model: {{_name: realformer_tiny, decoder_layers: 3, share_all_embeddings: true}}
criterion: {{_name: label_smoothed_cross_entropy, label_smoothing: 0.1}}
optimizer: {{_name: adam, adam_betas: "(0.9, 0.98)"}}
lr_scheduler: {{_name: linear, warmup_updates: 4, total_num_update: 20}}
dataset: {{max_tokens: 350, num_workers: 0}}
optimization: {{lr: [0.005], max_update: 8}}
checkpoint: {{save_dir: {folder}/checkpoints}}
"""


def test_preset_and_override_both_arrive(
    reversals: Path, user_dir: Path, train: Compose, generate: Compose, tmp_path: Path
) -> None:
    (tmp_path / "settings.yaml").write_text(SETTINGS.format(user_dir=user_dir, data=reversals, folder=tmp_path))
    hydra = command("hydra-train", "--config-dir", tmp_path, "--config-name", "settings")
    first = said([*hydra, f"hydra.run.dir={tmp_path}/first"], tmp_path)
    second = said([*hydra, f"hydra.run.dir={tmp_path}/second", "optimization.max_update=12"], tmp_path)
    assert first.count("ADMIN profile of the first batch, decoder") == 1
    assert "ADMIN profile" not in second
    last = tmp_path / "checkpoints" / "checkpoint_last.pt"
    state = load_state(last)
    model = state["cfg"]["model"]
    expected = {"residual_scaling": "admin", "score_carry": "mean", "encoder_layers": 2, "encoder_embed_dim": 64}
    assert {name: model[name] for name in expected} == expected
    assert model["decoder_layers"] == 3
    assert "decoder.layers.2.fc1.weight" in state["model"]
    assert "decoder.layers.3.fc1.weight" not in state["model"]

    flags = ("--arch", "realformer_tiny", "--decoder-layers", 3, "--share-all-embeddings", "--dropout", 0.1)
    schedule = ("--warmup-updates", 4, "--total-num-update", 20, "--max-update", 8, "--log-interval", 1)
    jobs = {"flags": train(tmp_path / "flags", *flags, *schedule), "generate": generate(last)}
    outputs = run_all(jobs, tmp_path)
    assert len(parse(outputs["generate"]).best) == SENTENCES["test"]
    assert losses(first) == losses(outputs["flags"])
    assert len(losses(second)) == 4
