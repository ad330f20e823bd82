"""Check the pinned packages for known vulnerabilities, by pip-audit in an environment of its own.

Status 1 for a vulnerability; 0, with a line that says so, where pip-audit or its data cannot be reached.
"""

import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PIP_AUDIT = "pip-audit==2.10.1"
PINS = ("constraints.txt", "tools/website/constraints.txt")
PATIENCE = 300  # seconds


def main(folder: Path) -> int:
    program = folder / "bin" / "pip-audit"
    if not program.exists():
        venv.create(folder, with_pip=True)
        failure = tried([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", PIP_AUDIT])
        if failure:
            return unasked(failure)
    report = folder / "report.json"
    packages: dict[tuple[str, str | None], dict[str, Any]] = {}
    for file in PINS:  # one by one, as pip-audit refuses a package that two files pin
        report.unlink(missing_ok=True)
        ask = ["--requirement", file, "--require-hashes", "--disable-pip", "--progress-spinner", "off"]
        failure = tried([str(program), *ask, "--format", "json", "--output", str(report)])
        if not report.is_file():
            return unasked(f"{file}: {failure or 'it wrote no report'}")
        for package in json.loads(report.read_text(encoding="utf-8"))["dependencies"]:
            packages[package["name"], package.get("version")] = package
    return report_flaws(list(packages.values()))


def tried(command: Sequence[str]) -> str | None:
    """The last line of what went wrong."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer in {PATIENCE} s"
    return None if done.returncode == 0 else "".join((done.stderr or done.stdout).strip().splitlines()[-1:])


def unasked(why: str) -> int:
    print(f"audit: NOT DONE, known vulnerabilities were not asked for: {why}", file=sys.stderr)
    return 0


def report_flaws(packages: Sequence[dict[str, Any]]) -> int:
    audited_packages = [package for package in packages if "vulns" in package]
    if not audited_packages:
        return unasked(packages[0]["skip_reason"] if packages else "constraints.txt pins nothing")
    flaws = [
        f"{package['name']} {package['version']}: {flaw['id']}, mended in {', '.join(flaw['fix_versions']) or 'none'}"
        for package in audited_packages
        for flaw in package["vulns"]
    ]
    print(
        f"audit: {len(audited_packages)} of {len(packages)} packages asked for, {len(flaws)} known vulnerabilities",
        *flaws,
        sep="\n  ",
    )
    for package in packages:
        if "skip_reason" in package:
            print(f"audit: NOT ASKED for {package['name']}: {package['skip_reason']}", file=sys.stderr)
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
