"""Models come from the hub by this one way, and never by themselves: `mem model fetch NAME`.

Each file is taken at one commit, compared with the hash that the hub gives for it, and only then called by
its name; the folder appears when all of it is there. What broke off goes on where it stopped.
`HF_ENDPOINT` names another hub, and the usual variables a proxy.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from mem.embed import named
from mem.embed.embedder import EmbeddingError, EmbeddingTimeout
from mem.embed.files import SUMS, file_sha256, verify_files
from mem.embed.forms import DESCRIPTION, described
from mem.embed.patience import Run
from mem.paths import private_folder

if TYPE_CHECKING:
    from http.client import HTTPResponse

HUB = "https://huggingface.co"
REACH = 0.6  # seconds after which a hub that cannot be reached is given up
STALLED = 30.0  # seconds without a byte
BLOCK = 1 << 18
BESIDE = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
REVISION = "revision"
LATEST = "main"

Progress = Callable[[int, int | None], None]
"""Hears how many bytes of how many are here."""


class Offered(NamedTuple):
    """A file as the hub offers it: SHA-256 of a large one, the git hash of a small one."""

    name: str
    size: int
    sha256: str
    git: str


def fetch(name: str, *, revision: str | None = None, progress: Progress | None = None) -> Path:
    """The folder of a model that is complete and verified; what lacks comes from the hub.

    Without a `revision` it is the commit that was fetched before, else the newest, which is then written
    down. Raises `Usage` for a name that fastembed does not know, `EmbeddingError` where the hub cannot be
    reached (within a second), breaks off, or gives other bytes than it names.
    """
    folder = named.folder(name)
    pinned = str(described(folder).get("revision", "")) if folder.is_dir() else ""
    if pinned and revision in (None, pinned) and _complete(folder):
        return folder
    # It runs while fastembed is imported, which takes half of the second that a failure may take.
    began, reachable = time.monotonic(), Run(_reach)
    model = named.description(name)
    _wait(reachable, began)
    work = folder.with_name(f"{folder.name}.part")
    private_folder(folder.parent)
    with _alone(folder.with_name(f"{folder.name}.lock")):
        try:
            if folder.is_dir() and revision in (None, pinned):
                # Whole files of a damaged folder need not come again.
                shutil.rmtree(work, ignore_errors=True)
                folder.rename(work)
            private_folder(work)
            _bring(model, work, revision or pinned or _begun(work) or LATEST, progress or _untold)
            shutil.rmtree(folder, ignore_errors=True)
            work.rename(folder)
        except (OSError, HTTPException) as err:
            raise _broken(err, work) from err
    return folder


def _complete(folder: Path) -> bool:
    weights = str(described(folder).get("weights", "model.onnx"))
    return (folder / SUMS).is_file() and not verify_files(folder, (weights, "tokenizer.json"))


def _begun(work: Path) -> str:
    """The commit of which some files are here already."""
    with suppress(OSError):
        return (work / REVISION).read_text(encoding="ascii").strip()
    return ""


def _bring(model: named.Described, work: Path, revision: str, progress: Progress) -> None:
    """Bring all files of a model into a folder, then write down what they are."""
    commit, offered = _offered(model, revision)
    if _begun(work) != commit:
        for part in work.rglob("*.part"):
            part.unlink()
    (work / REVISION).write_text(commit, encoding="ascii")
    total, here = sum(file.size for file in offered), 0
    progress(here, total)
    for file in offered:
        tell = partial(_told, progress, here, total)
        _bring_file(model.repository, commit, file, work, tell)
        here += file.size
    _write_down(model, work, commit, offered)


def _told(progress: Progress, before: int, total: int, now: int) -> None:
    progress(before + now, total)


def _offered(model: named.Described, revision: str) -> tuple[str, list[Offered]]:
    """The commit behind a revision and the files of it that the model needs."""
    place = f"/api/models/{quote(model.repository)}/revision/{quote(revision, safe='')}?blobs=true"
    try:
        with _open(place) as answer:
            said = json.load(answer)
        commit = str(said["sha"])
        if not re.fullmatch("[0-9a-f]{40}", commit):
            raise ValueError(f"'{commit[:50]}' is no commit")
        files = {str(one["rfilename"]): _offer(one) for one in said["siblings"]}
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as err:
        raise _refused(model, revision, err) from err
    static = model.weights.endswith(".safetensors")
    needed = (
        model.weights,
        *model.external,
        "tokenizer.json",
        *(() if static else ("tokenizer_config.json",)),
    )
    for name in needed:
        if name not in files:
            raise EmbeddingError(
                f"The hub has no {name} of {model.name} at {revision}.", hint="See: mem model list"
            )
    return commit, [files[name] for name in dict.fromkeys((*BESIDE, *needed)) if name in files]


def _offer(said: dict[str, Any]) -> Offered:
    large = said.get("lfs") or {}
    return Offered(
        str(said["rfilename"]),
        int(large.get("size", said.get("size", 0))),
        str(large.get("sha256", "")),
        str(said.get("blobId", "")),
    )


def _bring_file(repository: str, commit: str, file: Offered, work: Path, tell: Callable[[int], None]) -> None:
    """Bring one file, unless it is here already; raises `OSError`, `EmbeddingError` for other bytes."""
    path = work / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (path.is_file() and _same(path, file)):
        part = path.with_name(f"{path.name}.part")
        _download(f"/{quote(repository)}/resolve/{commit}/{quote(file.name)}", part, file.size, tell)
        if not _same(part, file):
            part.unlink()
            raise EmbeddingError(
                f"{file.name} came with other bytes than the hub names for it.", hint="Try again later."
            )
        part.replace(path)
    tell(file.size)


def _download(place: str, part: Path, size: int, tell: Callable[[int], None]) -> None:
    """Add what lacks to a file that was begun."""
    here = part.stat().st_size if part.exists() else 0
    if here >= size:
        here = 0
    headers = {"Range": f"bytes={here}-"} if here else {}
    with _open(place, headers) as answer:
        if here and answer.status != 206:
            here = 0
        with part.open("r+b" if here else "wb") as stream:
            stream.seek(here)
            while block := answer.read(BLOCK):
                stream.write(block)
                here += len(block)
                if here > size:
                    break
                tell(here)
    if here < size:
        raise ConnectionError(f"the connection ended at {here:,} of {size:,} bytes")


def _same(path: Path, file: Offered) -> bool:
    """Whether a file has the bytes that the hub names."""
    if path.stat().st_size != file.size:
        return False
    if file.sha256:
        return file_sha256(path) == file.sha256.lower()
    content = path.read_bytes()
    # What git calls a blob: its hash names the file and protects from accidents, not from forgers.
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == file.git


def _write_down(model: named.Described, work: Path, commit: str, files: list[Offered]) -> None:
    """Leave beside the files what they are and their hashes; from then on no network is needed."""
    before = named.prefixes(model.name)
    said = {
        "model": model.name,
        "revision": commit,
        "dimensions": model.dimensions,
        "weights": model.weights,
        "external": list(model.external),
        "query_prefix": before[0],
        "passage_prefix": before[1],
    }
    sums = "".join(f"{file_sha256(work / file.name)}  {file.name}\n" for file in files)
    (work / SUMS).write_text(f"# {model.repository} at {commit}\n{sums}", encoding="utf-8")
    (work / DESCRIPTION).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (work / REVISION).unlink()


def _hub() -> str:
    return os.environ.get("HF_ENDPOINT", HUB).rstrip("/")


def _open(place: str, headers: dict[str, str] | None = None) -> HTTPResponse:
    """The hub's answer to a request; raises `OSError`."""
    from urllib.request import Request, urlopen

    request = Request(_hub() + place, headers={"User-Agent": "mem", **(headers or {})})  # noqa: S310
    answer: HTTPResponse = urlopen(request, timeout=STALLED)  # noqa: S310
    return answer


def _reach() -> None:
    """Connect to the hub, or to the proxy on the way to it; raises `OSError`."""
    import socket
    from urllib.request import getproxies, proxy_bypass

    hub = urlsplit(_hub())
    if hub.scheme not in ("http", "https") or not hub.hostname:
        raise OSError(f"{_hub()} is no address of a hub")
    proxy = getproxies().get(hub.scheme)
    if proxy and not proxy_bypass(hub.hostname):
        hub = urlsplit(proxy if "//" in proxy else f"http://{proxy}")
    port = hub.port or (443 if hub.scheme == "https" else 80)
    socket.create_connection((hub.hostname or "", port), timeout=REACH).close()


def _wait(reachable: Run[None], began: float) -> None:
    try:
        reachable.result(max(0.0, began + REACH - time.monotonic()))
    except (EmbeddingTimeout, OSError, ValueError) as err:
        reason = "no answer" if isinstance(err, EmbeddingTimeout) else _reason(err)
        raise EmbeddingError(
            f"The hub {urlsplit(_hub()).hostname or _hub()} cannot be reached ({reason}).",
            hint="Connect to the network, name a mirror in HF_ENDPOINT, or use files that you have: "
            "`mem model use directory:PATH`.",
        ) from err


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold a lock that ends with the process; raises `EmbeddingError` where another process has it."""
    with lock.open("w") as stream:
        if not _locked(stream):
            raise EmbeddingError("Another process is fetching this model.", hint="Wait until it is done.")
        yield


def _locked(stream: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _refused(model: named.Described, revision: str, err: Exception) -> EmbeddingError:
    from urllib.error import HTTPError

    if isinstance(err, HTTPError) and err.code in (401, 403, 404):
        return EmbeddingError(
            f"The hub gives no {model.repository} at {revision} (status {err.code}).",
            hint="See: mem model list",
        )
    return EmbeddingError(
        f"The hub's answer about {model.name} is unusable: {_reason(err)}.", hint="Try again."
    )


def _broken(err: Exception, work: Path) -> EmbeddingError:
    if isinstance(err, OSError) and err.filename is not None and err.errno is not None:
        return EmbeddingError(
            f"Cannot write {err.filename}: {err.strerror}.", hint=f"Make room or access in {work}."
        )
    return EmbeddingError(
        f"The download broke off: {_reason(err)}.", hint="Run it again: it goes on where it stopped."
    )


def _reason(err: Exception) -> str:
    """What went wrong, in one line."""
    inner = getattr(err, "reason", err)
    text = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return " ".join(str(text).split())


def _untold(done: int, total: int | None) -> None:
    """Nobody wants to hear it."""
