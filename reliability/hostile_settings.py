"""A good checkpoint's settings, changed into settings that would act."""

import copy
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

State = dict[str, Any]
MARK = "hostile-mark"  # in every text that must not come through


def settings(proof: Path) -> Iterator[tuple[str, Callable[[State], None]]]:
    """Yield changes of a good checkpoint's settings: what each is, and how it is made."""
    here, looked_up = f"{proof}/{MARK}", f"${{oc.env:HOME}}/{MARK}"
    for group_of, other in OTHERS.items():
        yield f"{group_of} {other}", put(group_of, {"_name": other, **dict.fromkeys(ACTING.split(), here)})
        yield f"{group_of} {other} of options", put(group_of, Namespace(**{group_of: other}, _name=other, arch=other))
        for value in (MARK, [MARK], {"_name": looked_up}, {MARK: {"_name": MARK}}):
            yield f"{group_of} {value}", put(group_of, value)
    for value in (here, f"http://127.0.0.1:9/{MARK}", looked_up, [looked_up]):
        for field in ACTING.split():
            for group_of in ("task", "common", "model"):
                yield f"{group_of}.{field} {value}", change(group_of, field, value)
    for value in (f'{{"lm_path": "{here}"}}', f'{{"tokenizer": "{MARK}"}}', f'["{MARK}"]', looked_up):
        yield f"task.eval_bleu_args {value}", change("task", "eval_bleu_args", value)
    for value in (f"../../{MARK}", f"$({MARK})", f"a {MARK}", f"{MARK}\0", looked_up, [MARK]):
        yield f"task.source_lang {value!r}", change("task", "source_lang", value)


OTHERS = {
    "model": "transformer_from_pretrained_xlm",
    "task": "translation_from_pretrained_bart",
    "criterion": "sentence_ranking",
    "bpe": "gpt2",
    "tokenizer": "os.system",
}
ACTING = """
    save_predictions user_dir tensorboard_logdir log_file path lm_path encoder_embed_path pretrained_checkpoint
    lang_dict dataset_impl bpe_codes gpt2_encoder_json restore_file save_dir results_path model_overrides
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
