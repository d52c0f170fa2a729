"""What a language model's engine may fail with."""

from mem.errors import Unavailable


class ChatFailed(Unavailable):
    """The engine gave no answer that can be used; nothing was stored of it."""

    code = "chat_failed"
