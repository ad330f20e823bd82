"""Score tiny models by the package unbabel-comet, in an environment of its own: `make comet-parity`.

The expected scores go to tests/evaluation/comet/expected_scores.json, which the suite compares ours with.
"""

import importlib.metadata
import json
import sys
import tempfile
from pathlib import Path

import comet
import yaml
from tiny_models import tiny_comet


def main(output: Path) -> None:
    """Write the scores of every tiny model."""
    versions = {name: importlib.metadata.version(name) for name in ("unbabel-comet", "transformers", "torch", "entmax")}
    with tempfile.TemporaryDirectory() as folder:
        scores = {name: scores_of(tiny_comet.write(Path(folder, name), name)) for name in tiny_comet.MODELS}
    output.write_text(json.dumps({"versions": versions, "scores": scores}, indent=1) + "\n")


def scores_of(folder: Path) -> list[float]:
    """Return the package's score of each segment; its encoder is named by a path, which needs no network."""
    checkpoint = folder / "checkpoints" / "model.ckpt"
    state = tiny_comet.torch.load(checkpoint, weights_only=True)
    state["hyper_parameters"]["pretrained_model"] = str(folder / "encoder")
    tiny_comet.torch.save(state, checkpoint)
    samples = [dict(zip(("src", "mt", "ref"), sentences, strict=True)) for sentences in tiny_comet.SENTENCES]
    model = comet.load_from_checkpoint(str(checkpoint), local_files_only=True)
    hparams = yaml.safe_load((folder / "hparams.yaml").read_text())
    if "ref" not in hparams.get("input_segments", ["ref"]):
        samples = [{name: sample[name] for name in ("src", "mt")} for sample in samples]
    # a batch of one has no padding; another tests it
    batches = [model.predict(samples, batch_size=size, gpus=0, progress_bar=False).scores for size in (1, 8)]
    worst = max(abs(one - other) for one, other in zip(*batches, strict=True))
    print(f"{folder.name}: batches of 1 and of 8 differ by {worst:.1e}")
    return [float(score) for score in batches[1]]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
