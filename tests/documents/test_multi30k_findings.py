"""Sentences about the records of docs/results/multi30k_128 on its page and on others."""

import json
import re
import statistics

from grids.multi30k_128 import (
    FOLDER,
    MEASURES,
    WHY_PRE_LN_LEADS,
    WORDS,
    cells_of,
    lines_of,
    losses_of,
    mean_of,
    scores_of,
)
from programs.program import REPOSITORY
from scipy.stats import ttest_ind


def test_three_seeds_do_not_tell_pre_ln_and_realformer_apart() -> None:
    leads = []
    for metric in MEASURES.values():
        realformer, pre_ln = scores_of("realformer", metric), scores_of("pre_ln", metric)
        assert len(realformer) == len(pre_ln) == 3
        p = ttest_ind(realformer, pre_ln, equal_var=False).pvalue
        assert p > 0.05
        leads.append((statistics.mean(realformer) - statistics.mean(pre_ln), p))
    (bleu, p), (bits, p_of_bits) = leads
    assert all(lower < higher for lower, higher in zip(realformer, pre_ln, strict=True))
    mean = f"RealFormer's mean is {bleu:.2f} BLEU higher (p {p:.2f}) and {-bits:.2f} bits lower (p {p_of_bits:.2f})"
    assert f"{mean}, though its loss is the lower one with each seed" in WORDS
    means = [mean_of(scores_of(family, "bleu")) for family in ("pre_ln", "realformer")]
    assert f"With 6,000 updates Pre-LN has {means[0]} BLEU, RealFormer {means[1]}: **three" in WHY_PRE_LN_LEADS
    assert f"**three seeds do not tell the two apart** (p {p:.2f} by a t-test of their scores)" in WHY_PRE_LN_LEADS
    assert f"ends {-bits:.2f} bits below it (p {p_of_bits:.2f})" in WHY_PRE_LN_LEADS


def test_the_sentences_of_two_seeds_do_not_tell_them_apart_either() -> None:
    ps = []
    for seed in (1, 2):
        rows = json.loads((FOLDER / f"longer_seed_{seed}.json").read_text())["rows"]
        ps += [row["p"] for row in rows if row["family"] == "realformer"]
    assert min(ps) > 0.05
    assert f"p is {ps[0]:.2f} with the first seed and {ps[1]:.2f} with the second" in WORDS


def test_where_realformers_loss_overtakes_pre_lns() -> None:
    realformer, pre_ln = (
        [statistics.mean(each) for each in losses_of(family).values()] for family in ("realformer", "pre_ln")
    )
    behind = [higher > lower for higher, lower in zip(realformer, pre_ln, strict=True)]
    assert behind == sorted(behind, reverse=True)
    before, after = list(losses_of("pre_ln"))[sum(behind) - 1 :][:2]
    between = f"between update {before:,} and {after:,}"
    assert f"On average RealFormer's loss overtakes Pre-LN's {between}." in WORDS
    assert f"**RealFormer's loss overtakes Pre-LN's** {between}, in the mean of the seeds" in WHY_PRE_LN_LEADS


def test_how_far_pre_ln_leads_after_2000_updates() -> None:
    first = {
        cell["family"]: cell["scores"]["bleu"]["score"]
        for cell in cells_of("short")
        if (cell["depth"], cell["seed"]) == ("18", 1) and cell["scores"]
    }
    leads = [f"{first['pre_ln'] - first[family]:.2f}" for family in ("realformer", "admin")]
    assert f"ahead of RealFormer by {leads[0]} BLEU and of ADMIN by {leads[1]}." in WHY_PRE_LN_LEADS


def test_the_recipe_shows_the_means_on_record() -> None:
    families = ("pre_ln", "realformer", "admin", "resi_dual", "post_ln")
    short = {
        (cell["depth"], cell["family"], cell["seed"]): cell["scores"]["bleu"]["score"]
        for cell in cells_of("short")
        if "bleu" in cell["scores"]
    }
    shallow = [statistics.mean(short["6", family, seed] for seed in (1, 2, 3)) for family in families]
    deep = [short["18", family, 1] for family in families[:2]]
    longer = [statistics.mean(scores_of(family, "bleu")) for family in families[:3]]
    page = (REPOSITORY / "recipes" / "multi30k_en_de" / "README.md").read_text()
    for name, means in (("6L-6L, 2,000 updates", shallow), ("18L-18L, 2,000 updates, one seed", deep)):
        assert f"| {name} | {' | '.join(f'{mean:.1f}' for mean in means)} |" in page
    assert f"| 18L-18L, 6,000 updates | {' | '.join(f'{mean:.1f}' for mean in longer)} |" in page


def test_admin_has_the_lowest_bleu_and_a_loss_between() -> None:
    admin, pre_ln, realformer = (scores_of(family, "bleu") for family in ("admin", "pre_ln", "realformer"))
    assert len(admin) == 3
    assert max(admin) < min(pre_ln + realformer)
    p_values = [ttest_ind(admin, family, equal_var=False).pvalue for family in (pre_ln, realformer)]
    against = f"(p {p_values[0]:.2f} against Pre-LN, {p_values[1]:.2f} against RealFormer, not corrected for several"
    assert (
        f"{statistics.mean(admin):.2f} in the mean, and each seed is below each seed of the other two {against}"
        in WORDS
    )
    assert f"**ADMIN ends with {mean_of(admin)} BLEU**" in WHY_PRE_LN_LEADS
    assert f"below each of the other two families (p {p_values[0]:.2f} and {p_values[1]:.2f})" in WHY_PRE_LN_LEADS
    losses = [statistics.mean(scores_of(family, "valid_loss")) for family in ("realformer", "admin", "pre_ln")]
    assert losses == sorted(losses)
    assert f"Its loss, {losses[1]:.2f} bits in the mean, is between theirs." in WORDS


def test_how_far_resi_dual_is_behind() -> None:
    bleu, bits = (scores_of("pre_ln", name)[0] - scores_of("resi_dual", name)[0] for name in ("bleu", "valid_loss"))
    assert f"by {bleu:.2f} BLEU and {-bits:.2f} bits to Pre-LN's first seed" in WORDS


def test_what_twice_the_learning_rate_does() -> None:
    at_1e_3 = {
        cell["family"]: cell["scores"] for cell in cells_of("short") if (cell["depth"], cell["seed"]) == ("6", 1)
    }
    at_2e_3 = {cell["family"]: cell["scores"] for cell in cells_of("rates")}
    assert {cell["axes"]["lr"] for cell in cells_of("rates")} == {0.002}
    rates = (at_1e_3, at_2e_3)
    assert {family: figures for family, *figures in lines_of("rates_128")[1:]} == {
        family: [f"{rate[family][name]['score']:.2f}" for name in ("valid_loss", "bleu") for rate in rates]
        for family in at_2e_3
    }
    gains = {
        name: {family: scores[name]["score"] - at_1e_3[family][name]["score"] for family, scores in at_2e_3.items()}
        for name in ("bleu", "valid_loss")
    }
    assert {family for family, bits in gains["valid_loss"].items() if bits > 0} == {"post_ln"}
    assert {family for family, bleu in gains["bleu"].items() if bleu < 0} == {"post_ln", "realformer_post_ln"}
    assert (
        f"has the lower loss at 2e-3 by {-gains['valid_loss']['realformer_post_ln']:.2f} bits, and less BLEU" in WORDS
    )
    rows = {row["family"]: row for row in json.loads((FOLDER / "rates.json").read_text())["rows"]}
    ahead = [
        (
            f"{rows[family]['delta']['bleu']:.2f}",
            f"{rows[family]['p_holm']:.3f}",
            f"{-rows[family]['delta']['valid_loss']:.2f}",
        )
        for family in ("realformer", "admin")
    ]
    bleu, p, bits = (" and ".join(column) for column in zip(*ahead, strict=True))
    assert f"ahead of Pre-LN** by {bleu} BLEU (p {p}, Holm), and by {bits} bits" in WORDS
    assert f"RealFormer and ADMIN are ahead of Pre-LN by {bleu} BLEU (p {p}), and all three are" in WHY_PRE_LN_LEADS


def test_what_the_analyses_say() -> None:
    """Records of the first two seeds have RealFormer's figures beside Pre-LN's; a later one has four models."""
    entropy: dict[str, list[str]] = {"realformer": [], "pre_ln": [], "admin": [], "resi_dual": []}
    divergence: dict[str, list[str]] = {"pre_ln": [], "admin": [], "resi_dual": []}
    for seed in (1, 2):
        (analysis,) = json.loads((FOLDER / f"longer_seed_{seed}.json").read_text())["analyses"]
        assert [claim["agrees"] for claim in analysis["claims"]] == [False, True]
        entropies, divergences = (re.findall(r"\d\.\d\d", claim["measured"]) for claim in analysis["claims"])
        assert set(divergences[::2]) == {"0.02"}
        for family, figure in zip(("realformer", "pre_ln"), entropies, strict=False):
            entropy[family].append(figure)
        divergence["pre_ln"].append(min(divergences[1::2]))
    for model in json.loads((FOLDER.parent / "claims_longer.json").read_text())["trained"]:
        entropy[model["family"]].append(f"{model['entropy']['encoder']:.2f}")
        divergence[model["family"]].append(f"{min(model['divergence'].values()):.2f}")
    shown = {family: listed(figures) for family, figures in divergence.items()}
    assert f"Pre-LN's is from {shown['pre_ln']} with three, ADMIN's from {shown['admin']} with two" in WORDS
    assert f"ResiDual's from {shown['resi_dual']}." in WORDS
    shown = {family: listed(figures) for family, figures in entropy.items()}
    assert f"entropy in the encoder is {shown['realformer']} bits; Pre-LN's {shown['pre_ln']}," in WORDS
    assert f"ADMIN's {shown['admin']}, ResiDual's {shown['resi_dual']}." in WORDS


def listed(figures: list[str]) -> str:
    return " and ".join([", ".join(figures[:-1]), figures[-1]] if len(figures) > 1 else figures)
