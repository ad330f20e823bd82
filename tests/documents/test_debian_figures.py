"""The page about trainings on Debian's translations has the figures of their records."""

from figures.pages import record, row, says, table

PAGE, RECIPE = "docs/results/debian_en_de/README.md", "recipes/debian_en_de/README.md"
CELLS = {
    (int(cell["depth"]), cell["family"], cell["axes"]["lr"]): cell
    for name in ("epoch", "rates", "families", "more")
    for cell in record(f"debian_en_de/{name}")["cells"]
    if cell["state"] == "done"
}


def score(layers: int, family: str, rate: float, metric: str = "bleu") -> float:
    return round(CELLS[layers, family, rate]["scores"][metric]["score"], 2)


def test_both_tables() -> None:
    trained, losses = [], []
    for (layers, family, rate), cell in sorted(CELLS.items()):
        names = f"`{family}`", layers, f"{rate:.0e}".replace("e-0", "e-")
        scores = [f"{score(layers, family, rate, metric):.2f}" for metric in ("bleu", "valid_loss")]
        trained.append(row(*names, *scores, f"{cell['tokens_a_second']:,.0f}", f"{cell['hours']:.1f}"))
        losses.append(row(*names, *(f"{loss:.2f}" for loss in cell["curves"]["valid"]["nll_loss"])))
    assert table(PAGE) == trained
    assert table(PAGE, "| family | layers | rate | 1,000") == losses


def test_what_the_pages_say() -> None:
    pre_ln = [score(depth, "pre_ln", 2e-3) for depth in (6, 18)]
    carried = [score(depth, "realformer", 1e-3) for depth in (6, 18)]
    says(RECIPE, "Pre-LN has {:.2f} BLEU with 6 layers and {:.2f} with 18.".format(*pre_ln))
    says(RECIPE, "1e-3, which grid.toml has: {:.2f} BLEU with 6 layers, {:.2f} with 18.".format(*carried))
    bits = score(6, "realformer", 1e-3, "valid_loss") - score(6, "pre_ln", 2e-3, "valid_loss")
    at_2e_3 = f"At 2e-3 it has {score(6, 'realformer', 2e-3):.2f} BLEU with 6 layers."
    says(PAGE, at_2e_3, f"{pre_ln[0] - carried[0]:.2f} BLEU less than Pre-LN with 6 layers, and {bits:.2f} bits more")
    rows = [row for name in ("rates", "families") for row in record(f"debian_en_de/{name}")["rows"]]
    lead, more = (row["delta"] for row in rows if row["p_is_bound"])
    says(PAGE, f"RealFormer has {lead['bleu']:.2f} BLEU more (p < 0.0001, over the test set's lines)")
    (both,) = {score(6, family, 1e-3, "valid_loss") for family in ("admin", "realformer")}
    says(PAGE, f"{score(6, 'admin', 1e-3):.2f} BLEU, RealFormer {carried[0]:.2f}, both {both:.2f} bits.")
    says(PAGE, f"{-more['bleu']:.2f} BLEU less than ADMIN (p < 0.0001) and {more['valid_loss']:.2f} bits more.")
    best = score(6, "deepnorm", 1e-3), score(6, "deepnorm", 1e-3, "valid_loss")
    next_best = score(6, "dlcl_pre", 1e-3), score(6, "dlcl_pre", 1e-3, "valid_loss")
    (p,) = (row["p"] for row in record("debian_en_de/more")["rows"] if row["p"])
    says(PAGE, "DeepNorm has {:.2f} BLEU and {:.2f} bits, DLCL".format(*best))
    says(PAGE, "DLCL {:.2f} BLEU and {:.2f} bits (p {:.2g} between the two)".format(*next_best, p))
    says(PAGE, f"Pre-LN falls from {score(6, 'pre_ln', 1e-3):.2f} BLEU to {score(18, 'pre_ln', 1e-3):.2f}.")
    assert best[0] == max(score(6, family, rate) for layers, family, rate in CELLS if (layers, rate) == (6, 1e-3))
    says(RECIPE, f"At 1e-3 DeepNorm has {best[0]:.2f} BLEU, the most.")
    stuck = CELLS[18, "realformer", 2e-3]
    unigrams, loss = stuck["unigram_entropy"], stuck["curves"]["train"]["nll_loss"][-1]
    assert min(stuck["curves"]["valid"]["nll_loss"]) > unigrams
    says(PAGE, f"frequencies ({unigrams:.2f} bits)", f"loss falls to {loss:.2f} bits: dropout")
    names = ("claims", "claims_rates", "claims_families", "claims_more")
    models = [model for name in names for model in record(f"debian_en_de/{name}")["trained"]]
    entropies = (f"{model['entropy']['encoder-decoder']:.2f}" for model in models)
    deep, fast, slow, six, pre_ln_6, admin, dual, deepnorm, dlcl, deep_slow = entropies
    says(PAGE, f"is {slow} bits at 1e-3", f"and {fast} at 2e-3", f"has {deep} bits ({deep_slow} at 1e-3), ")
    says(PAGE, f"RealFormer with 6 layers {six}, Pre-LN with 6 {pre_ln_6}.", f"has {admin} bits in ADMIN and {dual} in")
    says(PAGE, f"attention has {deepnorm} bits in DeepNorm and {dlcl} in DLCL")
