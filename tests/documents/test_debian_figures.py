"""The page about trainings on Debian's translations has the figures of their records."""

import statistics

from figures.pages import RESULTS, record, row, says, table

PAGE, RECIPE = "docs/results/debian_en_de/README.md", "recipes/debian_en_de/README.md"
FAMILIES = ("admin", "deepnorm", "dlcl_pre", "pre_ln", "realformer", "resi_dual")
CELLS = {
    (int(cell["depth"]), cell["family"], cell["axes"]["lr"], cell["seed"]): cell
    for file in (RESULTS / "debian_en_de").glob("[!c]*.json")  # claims*.json are of `analyse`
    for cell in record(f"debian_en_de/{file.stem}")["cells"]
}


def score(layers: int, family: str, rate: float = 1e-3, metric: str = "bleu", seed: int = 1) -> float:
    return round(CELLS[layers, family, rate, seed]["scores"][metric]["score"], 2)


def test_the_tables() -> None:
    trained, losses = [], []
    for (layers, family, rate, seed), cell in sorted(CELLS.items()):
        names = f"`{family}`", layers, f"{rate:.0e}".replace("e-0", "e-"), seed
        scores = [f"{score(layers, family, rate, metric, seed):.2f}" for metric in ("bleu", "valid_loss")]
        trained.append(row(*names, *scores, f"{cell['tokens_a_second']:,.0f}", f"{cell['hours']:.1f}"))
        losses.append(row(*names, *(f"{loss:.2f}" for loss in cell["curves"]["valid"]["nll_loss"])))
    columns = [(rate, name) for name in ("valid_loss", "bleu") for rate in (1e-3, 2e-3)]
    rates = [row(f"`{family}`", *(f"{score(6, family, *at):.2f}" for at in columns)) for family in FAMILIES]
    assert table(PAGE) == trained
    assert table(PAGE, "| family | bits at 1e-3") == rates
    assert table(PAGE, "| family | layers | rate | seed | 1,000") == losses


def test_what_depth_does() -> None:
    depths = {family: f"from {score(6, family):.2f} BLEU to {score(18, family):.2f}" for family in FAMILIES}
    for family, name in (("dlcl_pre", "DLCL goes"), ("deepnorm", "DeepNorm")):
        bits = (score(depth, family, metric="valid_loss") for depth in (6, 18))
        says(PAGE, f"{name} {depths[family]} and from {{:.2f}} bits to {{:.2f}},".format(*bits))
    says(PAGE, f"Pre-LN {depths['pre_ln']}, RealFormer {depths['realformer']}, ADMIN {depths['admin']}, ResiDual")
    says(PAGE, f"ResiDual {depths['resi_dual']}.")
    pre_ln = [score(depth, "pre_ln", 2e-3) for depth in (6, 18)]
    says(RECIPE, "Pre-LN has {:.2f} at 2e-3 with 6 layers and {:.2f} with 18.".format(*pre_ln))


def test_what_the_rate_does_beside_depth() -> None:
    assert score(6, "deepnorm", 2e-3) == max(score(*key[:3], seed=key[3]) for key in CELLS if key[0] == 6)
    bits = score(6, "deepnorm", 2e-3, "valid_loss")
    says(PAGE, f"With 6 layers at 2e-3 DeepNorm has {score(6, 'deepnorm', 2e-3):.2f} BLEU and {bits:.2f} bits")
    (rate, depth), (rate_of_dlcl, depth_of_dlcl) = (
        (score(6, family, 2e-3) - score(6, family), score(18, family) - score(6, family))
        for family in ("deepnorm", "dlcl_pre")
    )
    says(PAGE, f"{rate:.2f} BLEU more than at 1e-3, where 18 layers give it {depth:.2f} more.")
    (p,) = (row["p"] for row in record("debian_en_de/further_rates")["rows"] if row["family"] == "dlcl_pre")
    says(PAGE, f"DLCL gains {rate_of_dlcl:.2f} by the rate and {depth_of_dlcl:.2f} by depth.")
    says(PAGE, f"It has {score(6, 'dlcl_pre', 2e-3):.2f} BLEU with 6 layers at 2e-3 (p {p:.1g} between the two)")
    says(RECIPE, f"with 6 layers DeepNorm has {score(6, 'deepnorm', 2e-3):.2f} at 2e-3.")


def test_which_family_leads() -> None:
    best, deepest = score(6, "deepnorm"), score(18, "dlcl_pre")
    assert best == max(score(6, family) for family in FAMILIES)
    assert deepest == max(score(18, family) for family in FAMILIES)
    says(PAGE, f"With 6 DeepNorm has {best:.2f} BLEU and {score(6, 'deepnorm', metric='valid_loss'):.2f} bits, DLCL")
    (p,) = (row["p"] for row in record("debian_en_de/more")["rows"] if row["p"])
    losing = score(6, "dlcl_pre"), score(6, "dlcl_pre", metric="valid_loss"), p
    says(PAGE, "DLCL {:.2f} BLEU and {:.2f} bits (p {:.2g} between the two)".format(*losing))
    more = deepest - score(18, "deepnorm"), least_p("further_layers")["bleu"]
    says(PAGE, "has {:.2f} BLEU more than DeepNorm, without a p, and {:.2f} more than ADMIN (p < 0.0001)".format(*more))
    dual = least_p("families")
    says(PAGE, f"{-dual['bleu']:.2f} BLEU less than ADMIN (p < 0.0001) and {dual['valid_loss']:.2f} bits more.")
    says(RECIPE, f"At 1e-3 DeepNorm has {best:.2f} BLEU with 6 layers, the most, and DLCL {deepest:.2f} with 18;")


def test_what_seeds_do() -> None:
    one, two, three = (score(6, "realformer", seed=seed) - score(6, "pre_ln", seed=seed) for seed in (1, 2, 3))
    says(PAGE, f"{one:.2f} BLEU more with seed 1 (p < 0.0001, over the test set's lines), {two:.2f} with seed 2")
    says(PAGE, f"(p {record('debian_en_de/more_seeds')['rows'][2]['p']:.2f}) and {three:.2f} with seed 3.")
    for family, name in (("pre_ln", "Pre-LN"), ("realformer", "RealFormer"), ("admin", "ADMIN")):
        seeds = [cell["scores"]["bleu"]["score"] for key, cell in CELLS.items() if key[:3] == (6, family, 1e-3)]
        says(PAGE, f"{name} {statistics.fmean(seeds):.2f} ± {statistics.stdev(seeds):.2f}")


def test_what_the_rate_does() -> None:
    bits = score(6, "realformer", metric="valid_loss") - score(6, "pre_ln", 2e-3, "valid_loss")
    fewer = score(6, "pre_ln", 2e-3) - score(6, "realformer")
    says(PAGE, f"{fewer:.2f} BLEU less than Pre-LN with 6 layers, and {bits:.2f} bits more")
    smaller = [name for name in FAMILIES if score(6, name, metric="valid_loss") < score(6, name, 2e-3, "valid_loss")]
    assert smaller == ["admin", "realformer"]
    admin, realformer = (score(6, family, 2e-3) for family in smaller)
    says(PAGE, f"At 2e-3 ADMIN has {admin:.2f} BLEU with 6 layers, RealFormer {realformer:.2f}.")
    stuck = CELLS[18, "realformer", 2e-3, 1]
    unigrams, loss = stuck["unigram_entropy"], stuck["curves"]["train"]["nll_loss"][-1]
    assert min(stuck["curves"]["valid"]["nll_loss"]) > unigrams
    says(PAGE, f"frequencies ({unigrams:.2f} bits)", f"loss falls to {loss:.2f} bits: dropout")


def test_where_encoder_decoder_attention_looks() -> None:
    names = ("", "_rates", "_families", "_more", "_more_layers", "_further_layers", "_resi_dual")
    models = [model for name in names for model in record(f"debian_en_de/claims{name}")["trained"]]
    entropies = [f"{model['entropy']['encoder-decoder']:.2f}" for model in models]
    deep, fast, slow, six, pre_ln_6, admin, dual, deepnorm, dlcl, deep_slow, deepest = entropies[:11]
    admin_18, dlcl_18, dual_18 = entropies[11:]
    says(PAGE, f"is {slow} bits at 1e-3", f"and {fast} at 2e-3", f"{admin_18} in ADMIN with 18")
    says(PAGE, f"has {deep} bits ({deep_slow} at 1e-3), ", f"RealFormer with 6 layers {six}, Pre-LN with 6 {pre_ln_6}.")
    says(PAGE, f"has {admin} bits in ADMIN and {dual} in ResiDual ({dual_18} with 18 layers)")
    says(PAGE, f"has {deepnorm} bits in DeepNorm ({deepest} with 18 layers) and {dlcl} in DLCL ({dlcl_18} with 18)")


def least_p(name: str) -> dict[str, float]:
    """Return how much the one row of a record whose p is the least that can be is ahead of the baseline."""
    (ahead,) = (row["delta"] for row in record(f"debian_en_de/{name}")["rows"] if row["p_is_bound"])
    return ahead
