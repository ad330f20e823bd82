"""A good checkpoint's settings, changed into settings that would act."""

import copy
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

State = dict[str, Any]
MARK = "hostile-mark"  # in every text that must not come through


def settings(proof: Path) -> Iterator[tuple[str, Callable[[State], None]]]:
    """Changes of a good checkpoint's settings: what each is, and how it is made."""
    here = f"{proof}/{MARK}"
    url = f"http://127.0.0.1:9/{MARK}"
    looked_up = f"${{oc.env:HOME}}/{MARK}"
    for group_of, names in OTHERS.items():
        for other in names.split():
            yield f"{group_of} {other}", put(group_of, {"_name": other, **dict.fromkeys(ACTING.split(), here)})
            options = Namespace(**{group_of: other}, _name=other, arch=other)
            yield f"{group_of} {other} of options", put(group_of, options)
        for value in (MARK, [MARK], {"_name": [MARK]}, {MARK: {"_name": MARK}}, {"_name": looked_up}):
            yield f"{group_of} {value}", put(group_of, value)
    for value in (here, url, looked_up, [looked_up], {"a": looked_up}):
        for field in ACTING.split():
            for group_of in GROUPS.split():
                yield f"{group_of}.{field} {value}", change(group_of, field, value)
    for field in ("eval_bleu_args", "eval_bleu_detok_args"):
        for value in (f'{{"lm_path": "{here}"}}', f'{{"tokenizer": "{MARK}"}}', MARK, f'["{MARK}"]', looked_up):
            yield f"task.{field} {value}", change("task", field, value)
    for field in ("source_lang", "target_lang"):
        paths = (f"../../{MARK}", f"$({MARK})", f"{MARK}/x", f"a {MARK}", f"{MARK}\0", f"{MARK}\n")
        for value in (*paths, looked_up, [MARK]):
            yield f"task.{field} {value!r}", change("task", field, value)


OTHERS = {
    "model": "wav2vec2 transformer_from_pretrained_xlm bart_large roberta hf_gpt2",
    "task": "denoising sentence_ranking language_modeling translation_from_pretrained_bart audio_pretraining",
    "criterion": "sentence_ranking sentence_prediction wav2vec ctc composite_loss",
    "bpe": "gpt2 hf_byte_bpe bert byte_bpe",
    "tokenizer": "fastbpe os.system",
}
GROUPS = "task criterion common dataset checkpoint generation common_eval model"
ACTING = """
    save_predictions user_dir tensorboard_logdir wandb_project log_file path replace_unk lm_path encoder_embed_path
    decoder_embed_path pretrained_checkpoint lang_dict source_dict target_dict fixed_dictionary dataset_impl bpe_codes
    sentencepiece_model gpt2_encoder_json restore_file finetune_from_model save_dir results_path model_overrides
    w2v_path extra_data virtual_data_size plasma_path decoder_xformers_att_config
"""  # fields that open, fetch, import or write


def put(group_of: str, value: Any) -> Callable[[State], None]:
    def change_state(state: State) -> None:
        state["cfg"][group_of] = value

    return change_state


def change(group_of: str, field: str, value: Any) -> Callable[[State], None]:
    def change_state(state: State) -> None:
        group = state["cfg"][group_of]
        if isinstance(group, Namespace):
            setattr(group, field, value)
        else:
            state["cfg"][group_of] = {**(group or {}), field: value}

    return change_state


def changed(state: State, how: Callable[[State], None]) -> State:
    copied = {**state, "cfg": copy.deepcopy(state["cfg"])}
    how(copied)
    return copied
