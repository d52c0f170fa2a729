"""The ONNX session of a local model, through fastembed and without any network.

Each run takes one text alone on one ONNX thread, and `lanes` runs go side by side. The bundled model
quantises its activations over whatever is in a run: with others beside it the same text comes out at a
cosine of 0.993 to 0.999 to itself, alone always bit for bit the same. Two lanes of single texts are also
as fast as one lane of two threads with batches of 256 tokens, and nothing spins between runs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mem.embed.embedder import EmbeddingError, Role
from mem.embed.files import missing_files, verify_files
from mem.embed.gate import QueryFirstGate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# More tokens in one run cost memory out of proportion; the pieces of a text stay well below.
RUN_TOKENS = 256
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

    def __init__(self, directory: Path, dimensions: int, lanes: int) -> None:
        """Load the model; raises `EmbeddingError`, naming the file at fault where one is."""
        if missing := missing_files(directory):
            raise _unusable(directory, f"{missing[0]} is missing")
        try:
            self._model = _load(directory, dimensions)
            self._tokenizer: Any = self._model.model.tokenizer
            # fastembed asks for 512; what is cut off stays readable in `overflowing`.
            self._tokenizer.enable_truncation(max_length=RUN_TOKENS)
        except Exception as err:
            problems = verify_files(directory)
            reason = problems[0] if problems else (str(err).strip().splitlines() or [type(err).__name__])[0]
            raise _unusable(directory, reason) from err
        self._lanes = lanes
        self._gate = QueryFirstGate(lanes)

    def rows(self, prompts: Sequence[str], role: Role) -> list[NDArray[np.float32]]:
        """One row for each prompt, in order; of a prompt beyond `RUN_TOKENS` only the beginning counts."""
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
        with self._gate.lane(role):
            try:
                row: NDArray[np.float32]
                [row] = self._model.embed([_encodable(prompt[:RUN_CHARACTERS])], batch_size=1)
            except Exception as err:
                raise EmbeddingError(
                    f"The embedding model failed on a text: {err}.", hint="Run `mem doctor`."
                ) from err
        return row


def _load(directory: Path, dimensions: int) -> Any:
    """The fastembed model of a directory that is complete."""
    os.environ.update(_QUIET)
    import onnxruntime
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    _keep_heap_small()
    onnxruntime.set_default_logger_severity(_ONNX_FATAL_ONLY)
    # The registry is per process and refuses a second entry of one name in any letter case.
    name = f"mem/{directory}"
    if not any(known["model"].lower() == name.lower() for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=name),  # required, never used: the path below comes first
            dim=dimensions,
            model_file="model.onnx",
        )
    return TextEmbedding(
        name,
        # fastembed makes this folder even if it needs none; the default lies in the shared temp directory.
        cache_dir=str(directory),
        specific_model_path=str(directory),
        local_files_only=True,
        threads=1,
        providers=["CPUExecutionProvider"],
        enable_cpu_mem_arena=False,
    )


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


def _unusable(directory: Path, reason: str) -> EmbeddingError:
    return EmbeddingError(
        f"The embedding model in {directory} cannot be loaded: {reason}.", hint="Run `mem doctor`."
    )
