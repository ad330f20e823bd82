"""DyT: one norm, whose file imports timm for another."""

from pathlib import Path

from same_weights.draws import WIDTH, Outputs, fill, passed

from authors_code.record import Source, load, stand_in

SOURCE = Source("jiachenzhu/DyT", "aab5dde0bc1bdd4410f687dad404c87b31808f90", "dynamic_tanh.py")


def run_code(checkout: Path) -> Outputs:
    stand_in("timm.layers", "LayerNorm2d")
    norm = load(checkout / SOURCE.file).DynamicTanh(WIDTH, channels_last=True)
    initial = {"initial_slope": norm.alpha.detach().clone(), "initial_gain": norm.weight.detach().clone()}
    return initial | passed(fill(norm, {"alpha": "slope"}))
