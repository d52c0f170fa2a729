"""The engine that sums up and finds names: a command or an endpoint, and only what the user has set up.

`chat.command` is asked first, then `chat.url`; then what the predecessor's variables name: an endpoint in
`ENTITY_LLM_API_BASE_URL` (with `_KEY` and `_MODEL`), a Claude in `CLAUDE_BIN`. Promises:

- Without any of these nothing is sent anywhere. A key goes to its own endpoint alone and is in no message.
- What is handed over stands between marks that nothing in it can close, and is said to be data.
- An answer is plain text within bounds; an empty or a cut one, or one that repeats what it was given, is a
  failure.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from mem import config
from mem.chat.failure import ChatFailed
from mem.context.fence import neutral, strip_fenced
from mem.errors import Unavailable, Usage
from mem.paths import expanded, places

LONGEST_ANSWER = 100_000  # characters of a memory
BASE_BEFORE, KEY_BEFORE, MODEL_BEFORE = (
    "ENTITY_LLM_API_BASE_URL",
    "ENTITY_LLM_API_KEY",
    "ENTITY_LLM_MODEL",
)
CLAUDE_BEFORE = "CLAUDE_BIN"
_MODEL_BEFORE_DEFAULT = "gpt-4o-mini"
_OPENING, _CLOSING = "<notes-to-read>", "</notes-to-read>"
_FENCE = "```"


class Chat(Protocol):
    """Something that answers a prompt; `name` is what messages call it."""

    name: str

    def ask(self, prompt: str) -> str:
        """The answer to a prompt; raises `ChatFailed`."""
        ...


def choose(environment: Mapping[str, str]) -> Chat:
    """The engine that is set up; raises `Unavailable`, saying how to, where there is none."""
    timeout = float(config.value("chat.timeout-seconds", environment))
    command, url = (str(config.value(key, environment)).strip() for key in ("chat.command", "chat.url"))
    if command:
        return _command(_words(command), environment, timeout)
    if url:
        from mem.chat.endpoint import Endpoint

        model = str(config.value("chat.model", environment)).strip()
        if not model:
            raise Usage(f"chat.url is {url}, but no model is named.", hint="mem config set chat.model NAME")
        return Endpoint(url, model, _key(environment), timeout)
    if environment.get(BASE_BEFORE):
        from mem.chat.endpoint import Endpoint

        model = environment.get(MODEL_BEFORE) or _MODEL_BEFORE_DEFAULT
        return Endpoint(environment[BASE_BEFORE], model, environment.get(KEY_BEFORE, ""), timeout)
    if environment.get(CLAUDE_BEFORE):
        return _command((environment[CLAUDE_BEFORE], "-p"), environment, timeout)
    raise Unavailable(
        "No language model is set up for this.",
        hint="mem config set chat.command 'claude -p', or set chat.url and chat.model to those of an "
        "OpenAI-compatible endpoint.",
    )


def as_data(lines: Iterable[str]) -> str:
    """Texts between marks that none of them can close, each on a line of its own."""
    return "\n".join((_OPENING, *map(neutral, lines), _CLOSING))


def cleaned(answer: str, name: str) -> str:
    """An answer as it may be stored: no fence around it, nothing in it that came out of `mem`.

    Raises `ChatFailed` where nothing is left, or where it is what was asked rather than an answer.
    """
    text = answer.replace("\0", "").encode("utf-8", "ignore").decode().strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text:
        text = text.partition("\n")[2].removesuffix(_FENCE).strip()
    if _OPENING in text:
        raise ChatFailed(f"{name} repeated what it was given instead of answering.")
    text = strip_fenced(text).strip()
    if not text.strip("`"):
        raise ChatFailed(f"{name} gave an empty answer.")
    if len(text) > LONGEST_ANSWER:
        raise ChatFailed(f"{name} gave {len(text):,} characters; at most {LONGEST_ANSWER:,} are taken.")
    return text


def _command(words: tuple[str, ...], environment: Mapping[str, str], timeout: float) -> Chat:
    from mem.chat.command import Command

    return Command(words, places(environment).state / "chat", environment, timeout)


def _words(command: str) -> tuple[str, ...]:
    import shlex

    try:
        return tuple(shlex.split(command))
    except ValueError as err:
        raise Usage(
            f"chat.command cannot be read: {err}.", hint="mem config set chat.command 'claude -p'"
        ) from err


def _key(environment: Mapping[str, str]) -> str:
    """The key in the file that `chat.key-file` names; empty for none."""
    named = str(config.value("chat.key-file", environment)).strip()
    if not named:
        return ""
    path = expanded(named, environment)
    try:
        key = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as err:
        why = err.strerror if isinstance(err, OSError) else "it is not plain ASCII"
        raise Usage(f"chat.key-file names {path}, which cannot be read: {why}.") from err
    if not key.isprintable():
        raise Usage(f"chat.key-file names {path}, which holds more than one line.")
    return key
