"""Blocks of manual pages: paragraphs and headings of roff, without examples."""

import gzip
import re

from debian_text.alignment import Block

MACRO = re.compile(r"[.']\s*(\w+)\s*(.*)")
QUOTED = re.compile(r'"([^"]*)"')
PARAGRAPH = re.compile("PP|P|LP|IP|TP|SH|SS|HP|RS|RE|TQ|Pp|It|Sh|br|sp")
ONE_FONT, TWO_FONTS = re.compile("B|I|SM"), re.compile("BR|IR|RB|RI|BI|IB")
FONT = re.compile(r"\\f(?:\[[^\]]*\]|\([A-Z]{2}|[A-Z])")
ESCAPES = {
    "\\-": "-", "\\&": "", "\\(aq": "'", "\\(bq": "„", "\\(lq": "“", "\\(rq": "”", "\\(Fo": "«", "\\(Fc": "»",
    "\\[aq]": "'", "\\e": "\\", "\\ ": " ", "\\~": " ", "\\(dq": '"', "\\|": "", "\\(bu": "•", "\\(co": "©",
    "\\(em": "\N{EM DASH}", "\\(en": "\N{EN DASH}",
}  # fmt: skip
OTHER_ESCAPE = re.compile(r"\\[(\[]\S*")


def plain(text: str) -> str:
    text = FONT.sub("", text)
    for escape, character in ESCAPES.items():
        text = text.replace(escape, character)
    return " ".join(OTHER_ESCAPE.sub("", text).split())


def join_arguments(text: str) -> str:
    """Return the arguments of a macro of two fonts, which have no spaces between them."""
    return QUOTED.sub(lambda quoted: quoted[1].replace(" ", "\0"), text).replace(" ", "").replace("\0", " ")


class ManualPage:
    """Collects the text of each block; its kind is the macro before it."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.lines: list[str] = []
        self.kind, self.is_example = "", False

    def end_block(self) -> None:
        if text := " ".join(self.lines):
            self.blocks.append(Block(self.kind, plain(text)))
        self.lines = []

    def add_macro(self, name: str, arguments: str) -> None:
        if name in ("nf", "EX", "fi", "EE"):
            self.is_example = name in ("nf", "EX")
            if self.is_example:
                self.end_block()
        elif PARAGRAPH.fullmatch(name):
            self.end_block()
            self.kind = name
            if name in ("SH", "SS") and arguments:
                self.blocks.append(Block(name, plain(arguments.strip('"'))))
        elif not self.is_example and ONE_FONT.fullmatch(name):
            self.lines.append(arguments)
        elif not self.is_example and TWO_FONTS.fullmatch(name):
            self.lines.append(join_arguments(arguments))


def read_manual_page(content: bytes) -> list[Block]:
    page = ManualPage()
    for line in gzip.decompress(content).decode(errors="replace").splitlines():
        if macro := MACRO.match(line):
            page.add_macro(macro[1], macro[2])
        elif not (line.startswith((".", "'")) or page.is_example) and line.strip():
            page.lines.append(line.strip())
    page.end_block()
    return page.blocks
