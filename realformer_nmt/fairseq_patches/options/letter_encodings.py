"""Encodings of a text as its bytes or characters, --bpe bytes and --bpe characters."""

from hydra.core.config_store import ConfigStore


def offer_bytes_and_characters() -> None:
    """Offer --bpe bytes and --bpe characters: fairseq has both, but tells hydra of neither (data/encoders)."""
    for name in ("bytes", "characters"):
        ConfigStore.instance().store(name=name, group="bpe", node={"_name": name}, provider="fairseq")
