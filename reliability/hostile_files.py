"""Grids, protocols and manifests that mean harm: each would write, read, start or show what it must not.

`EVIL` stands for a folder that holds a plug-in, which leaves a file behind when it is imported.
"""

from collections.abc import Iterator
from pathlib import Path

EVIL, SHELL, ESCAPE = "EVIL", "$(touch pwned)", "\\u001b]0;pwned\\u0007"
GRID = {
    "families": '["admin"]',
    "layers": '["1"]',
    "protocol": '"small"',
    "data": '{folder = "DATA", subwords = "none", reference = "DATA/../test.tgt"}',
    "train": "{encoder-embed-dim = 32, decoder-embed-dim = 32, encoder-ffn-embed-dim = 64, warmup-updates = 5}",
    "budget": "{updates = 20, tokens-a-step = 256, max-tokens = 256, average = 1}",
}
FLAGS = ("user-dir", "save-dir", "lr EVIL --user-dir", "${oc.env:HOME}")  # tests/protocols/test_allowed_flags has more
VALUES = ("--user-dir", "EVIL", SHELL, ESCAPE, "__import__('os').system('touch pwned')")
PATHS = ("../../pwned", "/pwned", "--folder=pwned", ESCAPE, SHELL, "${oc.env:HOME}", "a\\u0000b", "")


def grids() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each hostile grid, and the keys in which it differs from `GRID`."""
    for flag in FLAGS:
        yield f"train {flag}", {"train": f'{{warmup-updates = 5, "{flag}" = "EVIL"}}'}
        yield f"override {flag}", {"override": f'[{{family = "admin", train = {{"{flag}" = "EVIL"}}}}]'}
    for value in VALUES:
        yield f"lr {value}", {"train": f'{{warmup-updates = 5, lr = "{value}"}}'}
    for value in (*PATHS, "EVIL"):
        yield f"families {value}", {"families": f'["{value}"]'}
        yield f"protocol {value}", {"protocol": f'"{value}"'}
        yield f"corpus {value}", {"corpus": f'"{value}"', "data": ""}
        yield f"subwords {value}", {"data": f'{{folder = "DATA", reference = "DATA", subwords = "{value}"}}'}
        yield f"prepared {value}", {"prepared": f'"{value}"', "data": ""}
    for key in ("folder", "archives"):
        yield f"prepare {key}", {"corpus": '"iwslt14_de_en"', "data": "", "prepare": f'{{"{key}" = "/pwned"}}'}


def harmless_grids() -> dict[str, dict[str, str]]:
    """Return grids that may pass: nothing of them is ever more than text or a number."""
    return {
        "a title of markup": {"title": "'''<script>document.title=1</script>=cmd|' /C calc'!A0'''"},
        "settings of a cluster": {"slurm": '{setup = ["touch pwned"], chdir = "/pwned"}'},
        "a title with a shell's words": {"title": f'"{SHELL}; `id`"'},
    }


PROTOCOLS = (
    *(f'base = "{path}"' for path in (*PATHS, "EVIL", "/etc/passwd", "../small")),
    *(f'base = "small"\n[train]\n"{flag}" = "EVIL"' for flag in FLAGS),
    *(f'base = "small"\n[train]\nlr = "{value}"' for value in VALUES),
    'base = "small"\n[layers."1".train]\n"user-dir" = "EVIL"',
)

MANIFEST = {"name": "a", "file": "a.tar", "url": "https://localhost/a.tar", "member": "x", "base": "", "more": ""}
MANIFEST_TEXT = """{base}
source = "en"
target = "de"
invalid_utf8 = "refuse"
{more}
[protocol]
normalise_punctuation = false
remove_nonprinting = false
normalise_test = false
aggressive_hyphens = false
lowercase = false
bpe = 30
joined_dictionary = true
lengths = {{min = 1, max = 80, ratio = 9, counted = "before_bpe", validation = false}}
[[train]]
source = "{name}:{member}.en"
target = "{name}:{member}.de"
[held_out]
every = 5
counted = "before_cleaning"
[[archives."{name}"]]
urls = ["{url}"]
file = "{file}"
sha256 = "{sha256}"
"""
MANIFESTS = (
    *({"name": path} for path in (*PATHS, "..", "a/b")),
    *({"file": path} for path in (*PATHS[:-1], "..", ".bashrc", "archives/../../pwned.tar")),
    *({"member": path} for path in (*PATHS[:-1], "a/../../x", "./../x")),
    *({"url": url} for url in ("file:///etc/passwd", "ftp://localhost/a.tar", "javascript:0", "EVIL", ESCAPE)),
    *({"base": f'base = "{path}"'} for path in (*PATHS, "EVIL/m.toml", "/etc/passwd")),
    *({"more": f'{key} = "{ESCAPE}"'} for key in ("published", "wicked")),
)


def grid(changes: dict[str, str], data: Path, evil: Path) -> str:
    """`changes` come first, as tables end what stands above them; an empty value leaves a key out."""
    lines = [f"{key} = {value}\n" for key, value in {**GRID, **changes}.items() if value]
    return "".join(lines).replace("DATA", str(data)).replace(EVIL, str(evil))
