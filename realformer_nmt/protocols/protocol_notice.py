"""One line on the paper whose settings a training uses, and on where a paper on the model's family differs."""

from realformer_nmt.protocols.protocol import Protocol, load, shipped

COMPARED = ("tokens_a_step", "epochs", "updates", "average_of", "average", "beam", "lenpen", "max_len_a", "max_len_b")


def line(protocol: Protocol, family: str, corpus: str | None, layers: str) -> str:
    source = f"protocol {protocol.name} ({protocol.paper or 'of no paper'})"
    if family in protocol.families:
        return source
    protocols = (load(name, corpus, layers) for name in shipped())
    other = next((each for each in protocols if each.task == protocol.task and family in each.families), None)
    if other is None:
        return f"{source}; no protocol here follows a paper on {family}"
    names = ", ".join(differences(protocol, other)) or "nothing that is compared here"
    return f"{source}; for {family} there is --protocol {other.name} ({other.paper}), which differs in {names}"


def differences(protocol: Protocol, other: Protocol) -> list[str]:
    """Return the names of the settings that differ."""
    fields = [name.replace("_", " ") for name in COMPARED if getattr(protocol, name) != getattr(other, name)]
    names = [name for name in {**protocol.train, **other.train} if name != "seed"]
    return fields + [name for name in names if protocol.train.get(name) != other.train.get(name)]
