"""Make mean.f32, the vector that recall subtracts before it compares two e5 vectors.

e5 vectors crowd into a narrow cone: unrelated texts have cosine 0.70 to 0.85. Subtracting one mean passage
vector from questions and passages alike, and normalising again, spreads them out. The mean belongs to the
model and never to a store, so it is made once, from the sentences in sentences.txt, and shipped.

Run it with `python mem/models/mean.py`. It needs only fastembed and the model directory beside it, imports
nothing else of `mem`, and works offline. Two runs on one machine write the same bytes. Another processor may
round the last bits of a product differently: then the shipped file holds, because vectors in existing stores
were centred with it. After a change, write SHA256SUMS anew (PROVENANCE.md says how).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding
    from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent
MODEL = FOLDER / "multilingual-e5-small"
SENTENCES = FOLDER / "sentences.txt"
DIMENSIONS = 384
PASSAGE = "passage: "


def load(model: Path = MODEL) -> TextEmbedding:
    """Load the bundled model from its directory, on one thread and without the network.

    Unregistered models are taken by `add_custom_model`, whose registry lasts as long as the process and
    refuses a name twice: the name is therefore this script's own, and the second call finds it there.
    """
    # onnxruntime reports to its maker from the moment of its import, unless this is set before.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = "mem/multilingual-e5-small-for-its-mean"
    if not any(known["model"] == name for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf="intfloat/multilingual-e5-small"),  # required, never asked
            dim=DIMENSIONS,
            model_file="model.onnx",
            license="mit",
        )
    # Without cache_dir fastembed would make a directory in the system's temporary one.
    return TextEmbedding(name, specific_model_path=str(model), cache_dir=str(model), threads=1)


def sentences(file: Path = SENTENCES) -> list[tuple[str, str]]:
    """Read (language, sentence) from lines of the form `language<TAB>sentence`, in file order."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [(language, sentence) for language, _, sentence in (line.partition("\t") for line in lines)]


def mean_vector(model: TextEmbedding, texts: list[str]) -> NDArray[np.float32]:
    """Average the L2-normalised passage vectors of the texts: 384 floats.

    The average is not normalised again. Its length (below 1) says how much the vectors have in common, and
    only the average itself, subtracted, leaves them with mean zero.
    """
    import numpy as np

    total = np.zeros(DIMENSIONS, dtype=np.float64)
    for text in texts:
        # One text a run: int8 products are scaled by the largest value of the whole batch, so neighbours
        # shift a vector (cosine about 0.997 to itself alone).
        (vector,) = model.embed([PASSAGE + text], batch_size=1)
        total += vector
    return (total / len(texts)).astype(np.float32)


def main(target: Path = MODEL / "mean.f32") -> None:
    """Write the mean of all sentences to the target as little-endian float32."""
    mean = mean_vector(load(), [sentence for _, sentence in sentences()])
    target.write_bytes(mean.astype("<f4").tobytes())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
