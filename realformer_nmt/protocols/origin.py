"""Whose settings a training takes, and where those of a paper that trained this family differ: in one line."""

from collections.abc import Iterator

from realformer_nmt.protocols.protocol import Protocol, load, shipped

COMPARED = ("tokens_a_step", "epochs", "updates", "average_of", "average", "beam", "lenpen", "max_len_a", "max_len_b")


def line(protocol: Protocol, family: str, corpus: str | None, layers: str) -> str:
    own = f"protocol {protocol.name} ({protocol.paper or 'of no paper'})"
    if family in protocol.families:
        return own
    of_task = (other for other in _shipped(corpus, layers) if other.task == protocol.task)
    theirs = next((other for other in of_task if family in other.families), None)
    if theirs is None:
        return f"{own}; no shipped protocol is of a paper on {family}"
    other = ", ".join(differences(protocol, theirs))
    return f"{own}; for {family} there is --protocol {theirs.name} ({theirs.paper}), which differs in {other}"


def differences(one: Protocol, other: Protocol) -> list[str]:
    """Names of settings."""
    fields = [name.replace("_", " ") for name in COMPARED if getattr(one, name) != getattr(other, name)]
    names = [name for name in {**one.train, **other.train} if name != "seed"]
    return fields + [name for name in names if one.train.get(name) != other.train.get(name)]


def _shipped(corpus: str | None, layers: str) -> Iterator[Protocol]:
    return (load(name, corpus, layers) for name in shipped())
