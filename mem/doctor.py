"""Is everything sound: the store, its indexes, the model, the permissions, what we build on."""

import os
import stat
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import apsw

from mem import __version__, chosen_model, clock, config
from mem.embed import Embedder, EmbeddingError, Role
from mem.embed.choice import BUNDLED
from mem.embed.files import verify_files
from mem.paths import bundled_model, places
from mem.results import Check, Diagnosis
from mem.search import entities, index
from mem.store import embeddings, free_texts, integrity, migrations
from mem.store.connect import Store, file_system, vector_extension

MOST_TOLD = 50  # places with secrets that are named
DEPENDENCIES = ("apsw", "sqlite-vec", "fastembed", "onnxruntime", "mcp", "typer")


def examine(
    store: Store, embedder: Embedder | None, *, fix: bool, audit: bool = False, secrets: bool = False
) -> Diagnosis:
    """Look at everything; with `fix`, rebuild indexes that are not in step and tighten loose permissions.

    With `audit`, say what about the audit log does not fit, and check what refers to it too; with `secrets`,
    look for secrets in everything that is stored.
    """
    looks: tuple[Callable[[], Check], ...] = (
        lambda: _file(store),
        lambda: _permissions(store.path, fix=fix),
        lambda: _audit(store) if audit else _chain(store),
        lambda: _indexes(store, fix=fix),
        lambda: _extension(store),
        lambda: _vectors(store),
        lambda: _backups(store),
        lambda: _model(store, embedder),
        _versions,
        *((lambda: _secrets(store),) if secrets else ()),
    )
    checks = tuple(look() for look in looks)
    return Diagnosis(all(check.ok or check.fixed for check in checks), checks)


def _file(store: Store) -> Check:
    with store.read() as db:
        found = integrity.problems(db)
        schema = migrations.schema_number(db)
    kind = file_system(store.path.parent) or "unknown file system"
    if found:
        return Check("store", False, "; ".join(found[:3]), "Restore a backup: mem backup --restore FILE")
    return Check("store", True, f"{store.path} is sound (schema {schema}, {kind})")


def _permissions(path: Path, *, fix: bool) -> Check:
    loose = [str(part) for part, allowed in _private(path) if stat.S_IMODE(part.stat().st_mode) & ~allowed]
    if os.name == "nt" or not loose:
        return Check("permissions", True, "only you can read the store")
    if fix:
        for part, allowed in _private(path):
            part.chmod(allowed)
        return Check("permissions", False, f"tightened: {', '.join(loose)}", fixed=True)
    return Check("permissions", False, f"others may read {', '.join(loose)}", "mem doctor --fix")


def _private(path: Path) -> Iterator[tuple[Path, int]]:
    if path == places().store:
        yield path.parent, 0o700
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            yield part, 0o600


def _chain(store: Store) -> Check:
    with store.read() as db:
        broken = integrity.broken_link(db)
    if broken is not None:
        hint = "mem doctor --audit says why; compare with a backup."
        return Check("audit log", False, f"the chain breaks at event {broken}", hint)
    return Check("audit log", True, "the chain of events is whole")


def _audit(store: Store) -> Check:
    with store.read() as db:
        broken = integrity.first_broken(db)
        told = integrity.newest(db)
    if broken is not None:
        where = f"the chain breaks at event {broken.event}: {broken.why}"
        return Check("audit log", False, where, "Compare with a backup.")
    return Check("audit log", True, f"every event fits; {told}")


def _indexes(store: Store, *, fix: bool) -> Check:
    with store.write() as db:
        found = index.problems(db, has_vectors=store.has_vectors) + entities.problems(db)
        if not found:
            return Check("indexes", True, "words and vectors are in step with the memories and entities")
        if not fix:
            return Check("indexes", False, "; ".join(found), "mem doctor --fix")
        count = index.rebuild(db, has_vectors=store.has_vectors)
        entities.rebuild(db)
    return Check("indexes", False, f"rebuilt over {count} memories ({'; '.join(found)})", fixed=True)


def _extension(store: Store) -> Check:
    library = vector_extension()
    if store.has_vectors:
        return Check("vector extension", True, f"{library} is loaded")
    detail = f"{library} does not load" if library else "sqlite-vec is not installed"
    return Check("vector extension", False, detail, "python3 -m pip install --force-reinstall sqlite-vec")


def _vectors(store: Store) -> Check:
    with store.read() as db:
        model = embeddings.active_model(db)
        stored, pending = embeddings.coverage(db, model)
    told = f"{stored} memories and entities have theirs, {pending} wait for them"
    return Check("vectors", True, f"{told}: mem backfill" if pending else told)


def _model(store: Store, embedder: Embedder | None) -> Check:
    if embedder is None:
        return Check("model", True, "none: recall is by words alone")
    with store.read() as db:
        active = embeddings.active_model(db)
    if embedder.choice == BUNDLED.text:
        problems, hint = verify_files(bundled_model()), "python3 -m pip install --force-reinstall mem"
    else:
        problems, hint = chosen_model.problems(embedder, active)
    if problems:
        return Check("model", False, f"{embedder.choice}: {'; '.join(problems)}", hint)
    try:
        embedder.embed(["is the model there?"], Role.QUERY)
    except EmbeddingError as err:
        return Check("model", False, f"{embedder.choice}: {err}", err.hint)
    told = f"{embedder.name} answers ({embedder.dimensions} dimensions)"
    wanted = config.value("model")
    if active is not None and active.choice != wanted:
        told += f"; the setting names {wanted}: mem migrate-vectors goes over to it"
    return Check("model", True, told)


def _backups(store: Store) -> Check:
    from mem.exchange import backup  # for this command alone

    kept = backup.own(store, backup.folder(places()))
    if not kept:
        return Check("backups", True, "there is none that mem has named itself; see mem backup")
    age = max(clock.now() - kept[-1].at, timedelta())
    hours = age.seconds // 3600
    told = f"{age.days} days" if age.days else f"{hours} hours" if hours else "less than an hour"
    return Check("backups", True, f"the newest of {len(kept)} is {told} old: {kept[-1].path}")


def _secrets(store: Store) -> Check:
    """Look for secrets in what is stored; says where and of which kind they are, never what."""
    from mem.truth.redact import redact

    found: dict[str, dict[str, None]] = {}
    with store.read() as db:
        for place in free_texts.every(db):
            for label in redact(place.text).labels:
                found.setdefault(place.name, {})[label] = None
    if not found:
        return Check("secrets", True, "none in any text, version or event")
    told = [f"{name} ({', '.join(labels)})" for name, labels in found.items()]
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    hint = (
        "Replace the secret where it is used. mem forget ID erases a memory with its versions; "
        "mem update ID --content '…' only takes it out of the present text."
    )
    return Check("secrets", False, f"in {'; '.join(told[:MOST_TOLD])}{more}", hint)


def _versions() -> Check:
    from importlib import metadata

    found = ", ".join(f"{name} {metadata.version(name)}" for name in DEPENDENCIES)
    return Check("versions", True, f"mem {__version__}, SQLite {apsw.sqlite_lib_version()}, {found}")
