"""tokens a step = GPUs x tokens a GPU x update-freq, kept as the paper's whatever the number of GPUs."""

from realformer_nmt.common.errors import UserError

REACH = 64  # a proposed number is at most so many times the given one


def update_freq(tokens: int, gpus: int, max_tokens: int) -> int:
    """Return the accumulation that makes a step of exactly so many tokens."""
    steps, rest = divmod(tokens, gpus * max_tokens)
    if rest:
        ways = [f"--max-tokens {n}" for n in nearest(tokens, gpus, max_tokens)]
        ways += [f"--gpus {n}" for n in nearest(tokens, max_tokens, gpus)]
        raise UserError(
            f"{tokens:,} tokens a step are not {gpus} GPUs x {max_tokens:,} tokens x a whole number; use "
            f"{' or '.join(ways) or 'another number of GPUs with another --max-tokens'}, or another --tokens-a-step, "
            f"such as {max(1, steps) * gpus * max_tokens}"
        )
    return steps


def nearest(tokens: int, fixed: int, number: int) -> list[int]:
    """Return the nearest number up to `number` and the nearest above it that, times `fixed`, divide `tokens`."""
    below = next((n for n in range(min(number, tokens), 0, -1) if tokens % (fixed * n) == 0), None)
    far = min(tokens // fixed, REACH * number)
    above = next((n for n in range(number + 1, far + 1) if tokens % (fixed * n) == 0), None)
    return [n for n in (below, above) if n is not None]
