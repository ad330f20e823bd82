"""Schemas of requests and answers: their JSON is checked, and described by /openapi.json."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field

from realformer_nmt.serving.decoding import RANGES, SearchOptions

Strings = Annotated[list[str], FailFast()]  # pydantic builds an error for each wrong item otherwise, in seconds


def search_option(name: str, description: str | None = None) -> Any:
    """Return a field with the default and the range of an option of a search."""
    allowed = RANGES[name]
    return Field(getattr(SearchOptions, name), ge=allowed.least, le=allowed.most, description=description)


class ModelRequest(BaseModel):
    """Base of all requests: strict types, unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str | None = Field(None, max_length=1000, description="a name of /models; required if several are served")


class Translate(ModelRequest):
    texts: Strings = Field(min_length=1, description="raw text, a sentence each, without line breaks")
    split_sentences: bool = Field(False, description="texts have several sentences and may have line breaks")
    beam: int = search_option("beam", "default: 5, or the server's most_beam if that is smaller")
    nbest: int = search_option("nbest", "hypotheses of each text")
    lenpen: float = search_option("lenpen", "below 1: shorter, above 1: longer")
    max_len_a: float = search_option("max_len_a", "at most a * source length + b tokens")
    max_len_b: int = search_option("max_len_b")
    alignments: bool = Field(SearchOptions.alignments, description="which piece of the source each piece comes from")


class AttentionRequest(ModelRequest):
    text: str
    pieces: Strings = Field(max_length=10_000, description="of its translation, as /translate gives them")
    chain: str = Field(max_length=100, description="encoder, decoder or encoder-decoder")
    layer: int = Field(ge=1, le=1000)


class WrittenHypothesis(BaseModel):
    text: str
    score: float = Field(description="log2 of its probability, divided by (tokens, the end among them) ** lenpen")
    pieces: list[str] = Field(description="as the model has written it")
    alignment: list[tuple[int, int]] | None = Field(description="places in source and in pieces, if asked for")


class Translation(BaseModel):
    text: str = Field(description="the sentence that was translated")
    source: list[str] = Field(description="pieces, as the model has read them")
    hypotheses: list[WrittenHypothesis] = Field(description="the best first")


class Translations(BaseModel):
    model: str
    texts: list[str] = Field(description="the best translation of each text")
    translations: list[Translation] = Field(description="one for each text, or sentence if split, in their order")


class Weights(BaseModel):
    model: str
    chain: str
    layer: int
    layers: int
    queries: list[str] = Field(description="pieces that attend")
    keys: list[str] = Field(description="pieces that they attend to")
    weights: list[list[list[float]]] = Field(description="head x query x key; each query's add up to 1")


class ServedModel(BaseModel):
    name: str
    family: str
    layers: tuple[int, int] | None = Field(description="of encoder and decoder")
    source: str
    target: str
    precision: str


class Models(BaseModel):
    models: list[ServedModel]
    limits: dict[str, int | float]


class Health(BaseModel):
    status: str
    waiting: int = Field(description="requests that wait for their turn")


class Error(BaseModel):
    error: str
