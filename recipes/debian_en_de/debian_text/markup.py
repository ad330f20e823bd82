"""Blocks of pages in HTML, DocBook and Mallard, without code."""

import re
from html.parser import HTMLParser

from debian_text.alignment import Block

BLOCKS = re.compile(
    "p|li|td|th|h[1-6]|dt|dd|title|caption|para|term|desc|item|div|section|pre|screen|programlisting|figure|table|tr|"
    "ul|ol|dl|body|blockquote|note|code-block|cmd|info|link-title|simpara|listitem|entry|guimenuitem|varlistentry|"
    "steps|list|terms|tree|example|synopsis"
)
CODE = re.compile("script|style|pre|screen|programlisting|code-block|synopsis|literallayout")
ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|nbsp|#\d+|#x[0-9a-fA-F]+);)([\w.-]+);")
DECLARATIONS = re.compile(r"<!DOCTYPE.*?\]>|<!--.*?-->", re.DOTALL)


class BlockParser(HTMLParser):
    """Collects the text of each block; its kind is the two innermost tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.text, self.open, self.codes = "", list[str](), 0

    def end_block(self) -> None:
        if text := " ".join(self.text.split()):
            self.blocks.append(Block("/".join(self.open[-2:]), text))
        self.text = ""

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self.codes += bool(CODE.fullmatch(tag))
        if BLOCKS.fullmatch(tag):
            self.end_block()
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.codes -= bool(CODE.fullmatch(tag)) and self.codes > 0
        if BLOCKS.fullmatch(tag):
            self.end_block()
            while tag in self.open and self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.text += "" if self.codes else data


def read_page(content: bytes) -> list[Block]:
    """Return the blocks; an entity that only its DTD defines is read as its name."""
    parser = BlockParser()
    parser.feed(ENTITY.sub(r"\1", DECLARATIONS.sub("", content.decode(errors="replace"))))
    parser.end_block()
    return parser.blocks
