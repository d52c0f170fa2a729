"""The ONNX session of a local model, through fastembed and without any network.

Each run takes one text alone on one ONNX thread, and `lanes` runs go side by side. The bundled model
quantises its activations over whatever is in a run: with others beside it the same text comes out at a
cosine of 0.993 to 0.999 to itself, alone always bit for bit the same. Two lanes of single texts are also
as fast as one lane of two threads with batches of 256 tokens, and nothing spins between runs.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mem.embed.embedder import EmbeddingError, Role
from mem.embed.files import checksums, missing_files, verify_files
from mem.embed.forms import Form, unusable
from mem.embed.gate import QueryFirstGate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The longest text that a memory may hold; spares the tokenizer the rest of a pasted log file.
RUN_CHARACTERS = 100_000
# Read by the libraries when they are imported. onnxruntime (1.32 does) reports to its maker over the network
# and leaves an identifier in the user's cache folder, unless it is told not to before it is loaded.
_QUIET = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LOGURU_AUTOINIT": "0",
    "TOKENIZERS_PARALLELISM": "false",
}
# It warns on stderr of graphics cards that it cannot look at; what matters it raises.
_ONNX_FATAL_ONLY = 4
# Parameters of glibc's mallopt, from malloc.h.
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8


class Engine:
    """A loaded model: texts in, raw rows out. Safe for any number of threads."""

    def __init__(self, form: Form, lanes: int) -> None:
        """Load the model; raises `EmbeddingError`, naming the file at fault where one is."""
        directory = form.directory
        if missing := missing_files(directory, form.needed):
            raise unusable(directory, f"{missing[0]} is missing")
        try:
            self._model = _load(form)
            self._tokenizer: Any = self._model.model.tokenizer
            # fastembed asks for all that the model reads; what is cut off stays readable in `overflowing`.
            self._tokenizer.enable_truncation(max_length=form.run_tokens)
        except Exception as err:
            # A folder of the user's own need not say what its files should be.
            problems = verify_files(directory, form.needed) if checksums(directory) else []
            reason = problems[0] if problems else (str(err).strip().splitlines() or [type(err).__name__])[0]
            raise unusable(directory, reason) from err
        self._lanes = lanes
        self._gate = QueryFirstGate(lanes)

    def rows(self, prompts: Sequence[str], role: Role) -> list[NDArray[np.float32]]:
        """One row for each prompt, in order; of a prompt beyond `run_tokens` only the beginning counts."""
        if len(prompts) == 1:
            return [self._run(prompts[0], role)]
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(self._lanes, thread_name_prefix="mem-embed")
        try:
            return list(pool.map(self._run, prompts, [role] * len(prompts)))
        finally:
            # After Ctrl-C or a failure the rest of a long batch is not worth waiting for.
            pool.shutdown(cancel_futures=True)

    def token_starts(self, text: str) -> list[int]:
        """Where each token of the whole text begins, without the markers around it."""
        encoding = self._tokenizer.encode(_encodable(text))
        return [
            start
            for part in (encoding, *encoding.overflowing)
            for (start, _), marker in zip(part.offsets, part.special_tokens_mask, strict=True)
            if not marker
        ]

    def _run(self, prompt: str, role: Role) -> NDArray[np.float32]:
        # Most models embed both alike; one of fastembed's tells questions from passages by itself.
        embed = self._model.query_embed if role is Role.QUERY else self._model.passage_embed
        with self._gate.lane(role):
            try:
                row: NDArray[np.float32]
                [row] = embed([_encodable(prompt[:RUN_CHARACTERS])])
            except Exception as err:
                raise EmbeddingError(
                    f"The embedding model failed on a text: {err}.", hint="Run `mem doctor`."
                ) from err
        return row


def quieten() -> None:
    """Keep the libraries silent and off the network; to be called before fastembed is imported."""
    os.environ.update(_QUIET)


def _load(form: Form) -> Any:
    """The fastembed model of a directory that is complete."""
    quieten()
    import onnxruntime
    from fastembed import TextEmbedding

    _keep_heap_small()
    onnxruntime.set_default_logger_severity(_ONNX_FATAL_ONLY)
    options: dict[str, Any] = {"mmap": True}
    if not form.static:
        options = {"threads": 1, "providers": ["CPUExecutionProvider"], "enable_cpu_mem_arena": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what some models did in earlier versions of fastembed
        return TextEmbedding(
            form.known_as or _registered(form),
            # fastembed makes this folder even if it needs none; by default in the shared temp directory.
            cache_dir=str(form.directory),
            specific_model_path=str(form.directory),
            local_files_only=True,
            **options,
        )


def _registered(form: Form) -> str:
    """The name under which fastembed knows the form from now on."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    poolings = {
        "mean": PoolingType.MEAN,
        "cls": PoolingType.CLS,
        "none": PoolingType.DISABLED,
        "last": getattr(PoolingType, "LAST_TOKEN", None),
    }
    pooling = poolings[form.pooling]
    if pooling is None:
        raise ValueError("this version of fastembed cannot pool by the last token")
    # The registry is per process and refuses a second entry of one name in any letter case.
    name = f"mem/{form.directory}/{form.weights}/{form.pooling}"
    if not any(known["model"].lower() == name.lower() for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=pooling,
            normalization=True,
            sources=ModelSource(hf=name),  # required, never used: the directory comes first
            dim=form.dimensions,
            model_file=form.weights,
        )
    return name


def _keep_heap_small() -> None:
    """Let glibc give the buffers of a run back to the system: 275 MB at the peak of a batch, not 350."""
    import ctypes

    # Without onnxruntime's own arena its buffers come from malloc, which by default opens a heap per thread
    # and stops returning large blocks after the first few. Other C libraries lack the call or ignore it.
    with suppress(AttributeError, OSError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, 1 << 20)


def _encodable(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, replaced one for one: positions stay."""
    return text.encode("utf-8", "replace").decode("utf-8")
