"""HTTP interface of the server."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from realformer_nmt.analysis.hooks import CHAINS
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.common.version import VERSION
from realformer_nmt.corpora.paragraphs import Paragraphs
from realformer_nmt.serving import schemas
from realformer_nmt.serving.batching import Batches, Work
from realformer_nmt.serving.decoding import SearchOptions
from realformer_nmt.serving.handlers import AttentionWork, TranslationWork
from realformer_nmt.serving.middleware import Guard
from realformer_nmt.serving.refusals import RefusalError, add_refusals
from realformer_nmt.serving.serve import Limits
from realformer_nmt.serving.served_models import Served

REFUSALS = {
    408: "the request did not arrive in time",
    413: "the body of the request has too many bytes",
    421: "the Host header is none of this server's names",
    422: "the request is not valid; the error says why",
    503: "too many requests wait; ask again after Retry-After seconds",
    504: "the answer was not ready in time",
}
PAGE = Path(__file__).parent / "page"
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def interface(served: Mapping[str, Served], batches: Batches, limits: Limits, hosts: Collection[str]) -> Guard:
    """Build the app, without FastAPI's own pages, which load scripts from other hosts."""
    app = FastAPI(
        title="realformer-nmt",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        responses={status: {"model": schemas.Error, "description": text} for status, text in REFUSALS.items()},
    )
    add_refusals(app)
    handlers = Handlers(served, batches, limits)
    app.get("/health")(handlers.health)
    app.get("/models")(handlers.models)
    app.post("/translate")(handlers.translate)
    app.post("/attention")(handlers.attention)
    add_page(app)
    return Guard(app, limits, hosts)  # guards errors, too


def add_page(app: FastAPI) -> None:
    """Add a route for each file by its name, and for the page itself at /."""
    for file in sorted(PAGE.iterdir()):
        path = "/" if file.name == "index.html" else f"/{file.name}"
        app.get(path, include_in_schema=False)(page_sender(file.read_bytes(), MEDIA_TYPES[file.suffix]))


def page_sender(content: bytes, media_type: str) -> Callable[[], Awaitable[Response]]:
    async def send() -> Response:
        return Response(content, media_type=media_type)

    return send


class Handlers:
    def __init__(self, served: Mapping[str, Served], batches: Batches, limits: Limits) -> None:
        self._served, self._batches, self._limits = served, batches, limits

    async def health(self) -> schemas.Health:
        return schemas.Health(status="ok", waiting=self._batches.waiting())

    async def models(self) -> schemas.Models:
        """Return the models, and how much a request may ask for."""
        return schemas.Models(models=list(map(description, self._served.values())), limits=asdict(self._limits))

    async def translate(self, body: schemas.Translate, request: Request) -> schemas.Translations:
        """Return the hypotheses for each text. Requests with the same model and options share batches."""
        served = self._select(body.model)
        if len(body.texts) > self._limits.most_texts:
            raise UserError(f"{len(body.texts)} texts: allowed are {self._limits.most_texts} in a request")
        for text in body.texts:
            self._check_short(text)
        most = self._limits.most_beam
        beam = body.beam if "beam" in body.model_fields_set else min(body.beam, most)
        if beam > most:
            raise UserError(f"beam={beam}: allowed is {most} or less")
        options = body.model_dump(exclude={"model", "texts", "split_sentences", "beam"})
        decoding = SearchOptions(**options, beam=beam, precision=served.precision)
        paragraphs = Paragraphs(body.texts, served.translator.corpus.source, body.split_sentences)
        answers = await self._answers(TranslationWork(served.translator, decoding), paragraphs.sentences, request)
        pairs = zip(paragraphs.sentences, answers, strict=True)
        return schemas.Translations(
            model=served.name,
            texts=paragraphs.joined(hypotheses[0].text for hypotheses in answers),
            translations=[translation(sentence, hypotheses, body.alignments) for sentence, hypotheses in pairs],
        )

    async def attention(self, body: schemas.AttentionRequest, request: Request) -> schemas.Weights:
        """Return the attention of every head of a layer while the model reads the text and writes the pieces."""
        served = self._select(body.model)
        self._check_short(body.text)
        choose("chain", body.chain, CHAINS)
        work = AttentionWork(served, tuple(body.pieces), body.chain, body.layer)
        answer: schemas.Weights = (await self._answers(work, [body.text], request))[0]
        return answer

    def _select(self, name: str | None) -> Served:
        if name is None and len(self._served) > 1:
            raise UserError(f"several models are served: set model to one of {', '.join(self._served)}")
        key = next(iter(self._served), "") if name is None else name
        return choose("model", key, self._served)

    def _check_short(self, text: str) -> None:
        if len(text) > self._limits.most_characters:
            raise UserError(
                f"a text of {len(text)} characters: allowed are {self._limits.most_characters}, split it into sentences"
            )

    async def _answers(self, work: Work, texts: list[str], request: Request) -> Any:
        """Return the answers, or cancel the work when time is up or the client has disconnected."""
        answers: asyncio.Future[Any] = asyncio.wrap_future(self._batches.submit(work, texts))
        leaving: asyncio.Future[Any] = asyncio.ensure_future(request.receive())  # the body is read already
        try:
            seconds = self._limits.most_seconds
            await asyncio.wait({answers, leaving}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if answers.done():
                return answers.result()
            if leaving.done():
                raise RefusalError(408, "the client has left")
            raise RefusalError(504, f"no answer within {seconds} seconds: send fewer texts, or ask again later")
        finally:
            leaving.cancel()
            answers.cancel()


def description(served: Served) -> schemas.ServedModel:
    source, target = served.translator.corpus.languages
    return schemas.ServedModel(**served._asdict(), source=source, target=target)


def translation(text: str, hypotheses: list[Any], aligned: bool) -> schemas.Translation:
    answers = [
        schemas.WrittenHypothesis(
            text=each.text, score=each.score, pieces=each.pieces, alignment=each.alignment if aligned else None
        )
        for each in hypotheses
    ]
    return schemas.Translation(text=text, source=hypotheses[0].source, hypotheses=answers)
