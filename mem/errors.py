"""Errors that a person or an agent can act on: what is wrong, what to do, which exit status."""


class MemError(Exception):
    """A failure with a stable code, an exit status and a way out."""

    code = "error"
    exit_status = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Unavailable(MemError):
    """Something that the call needs is not there: a model, an extension, an endpoint."""

    code = "unavailable"


class Usage(MemError):
    """The call itself is wrong: an unknown argument, a value out of bounds, a date that does not exist."""

    code = "usage"
    exit_status = 2


class NotFound(MemError):
    """No memory, event, entity or project answers to this id or name."""

    code = "not_found"
    exit_status = 3


class Refused(MemError):
    """A rule of the store forbids the write."""

    code = "refused"
    exit_status = 4


class NeedsReview(Refused):
    """A person has to agree first, as `trust.review` says."""

    code = "needs_review"


class StoreUnusable(MemError):
    """The store cannot be opened, read or written."""

    code = "store_unusable"
    exit_status = 5


class StoreBusy(StoreUnusable):
    """Another process held the store's lock for longer than the timeout."""

    code = "store_busy"


class StoreTooNew(StoreUnusable):
    """The store was written by a newer `mem` than this one."""

    code = "store_too_new"
