"""`realformer-nmt serve` under load: requests of one text by clients at once, none of which may be lost.

python benchmarks/serving.py runs/realformer-6 --prepared data --texts data/test.raw.en --json docs/results/serving.json
"""

import argparse
import http.client
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tabulate import tabulate

import realformer_nmt
from realformer_nmt.common.stages.versions import processor, versions

SERVE = [sys.executable, "-m", "realformer_nmt.cli", "serve"]


class Asked(NamedTuple):
    text: str
    status: int  # 0: no whole answer came
    seconds: float
    answer: str | None


@contextmanager
def serving(words: Sequence[str], threads: int) -> Iterator[tuple[str, int]]:
    """The address and number of a server of its own, which has to end with status 0."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    with subprocess.Popen(
        [*SERVE, *words, "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        line = server.stdout.readline() if server.stdout else ""
        try:
            yield urlsplit(line.rpartition(" ")[2].strip()).netloc, server.pid
        finally:
            server.send_signal(signal.SIGTERM)
    if server.returncode:
        raise SystemExit(f"the server ended with status {server.returncode}")


def processor_seconds(process: int) -> float:
    """Return the processor time of all threads of a process: other users of the machine hardly change it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def client(address: str, texts: Sequence[str], beam: int) -> list[Asked]:
    """One after the other, on one connection."""
    connection = http.client.HTTPConnection(address, timeout=120)
    return [ask(connection, text, beam) for text in texts]


def ask(connection: http.client.HTTPConnection, text: str, beam: int) -> Asked:
    start, status, answer = time.perf_counter(), 0, None
    try:
        body = json.dumps({"texts": [text], "beam": beam})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        reply = json.loads(response.read())
        status = response.status
        answer = reply["translations"][0]["hypotheses"][0]["text"] if status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        connection.close()
    return Asked(text, status, time.perf_counter() - start, answer)


def load(address: str, texts: Sequence[str], clients: int, requests: int, beam: int) -> tuple[float, list[Asked]]:
    """Seconds in all, and what became of each request."""
    every = list(itertools.islice(itertools.cycle(texts), requests))
    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        parts = [threads.submit(client, address, every[number::clients], beam) for number in range(clients)]
    seconds = time.perf_counter() - start
    return seconds, [request for part in parts for request in part.result()]


def row(clients: int, seconds: float, requests: Sequence[Asked], translations: dict[str, str]) -> dict[str, Any]:
    """Lost is what got no translation; `as in Python` are those equal to what Translator.translate says."""
    milliseconds = sorted(each.seconds * 1000 for each in requests)
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return {
        "clients": clients,
        "requests": len(requests),
        "lost": sum(each.status != 200 for each in requests),
        "as in Python": sum(each.answer == translations[each.text] for each in requests),
        "requests a second": round(len(requests) / seconds, 1),
        "p50 ms": round(cuts[49], 1),
        "p99 ms": round(cuts[98], 1),
        "load": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--prepared", required=True)
    parser.add_argument("--texts", type=Path, required=True, help="raw text, a sentence a line")
    parser.add_argument("--requests", type=int, default=10_000, help="of the most clients; of fewer, a tenth")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, default=Path("serving.json"))
    args = parser.parse_args()
    texts = args.texts.read_text(encoding="utf-8").splitlines()
    model = realformer_nmt.load(args.run, prepared=args.prepared, cpu=True)
    translations = dict(zip(texts, model.translate(texts, beam=args.beam), strict=True))
    report = {"versions": versions(), "processor": processor(), "cores": os.cpu_count(), "beam": args.beam}
    report |= {
        "threads": args.threads,
        "words": round(statistics.mean(len(text.split()) for text in texts), 1),
        "rows": [],
    }
    with serving([args.run, "--prepared", args.prepared, "--cpu"], args.threads) as (address, process):
        client(address, texts[:32], args.beam)  # not timed
        for clients in args.clients:
            requests = args.requests if clients == max(args.clients) else args.requests // 10
            before = processor_seconds(process)
            figures = row(clients, *load(address, texts, clients, requests, args.beam), translations)
            spent = (processor_seconds(process) - before) / requests
            report["rows"].append({**figures, "server's processor ms a request": round(spent * 1000, 2)})
            args.json.write_text(json.dumps(report, indent=1) + "\n")
    print(tabulate(report["rows"], headers="keys"))


if __name__ == "__main__":
    main()
