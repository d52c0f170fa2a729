"""What the operations answer: one frozen value each, rendered alike on the command line and over MCP.

`exit_status` is the command line's; a front end without exit statuses leaves it out. Fields are only ever
added.

Each answer lies in the room of its operations, which is opened when it is first asked for: a hook pays for no
other.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mem.results.carrying import BackedUp as BackedUp
    from mem.results.carrying import Backfilled as Backfilled
    from mem.results.carrying import BadRecord as BadRecord
    from mem.results.carrying import Compared as Compared
    from mem.results.carrying import Compressed as Compressed
    from mem.results.carrying import CompressedGroup as CompressedGroup
    from mem.results.carrying import CompressedState as CompressedState
    from mem.results.carrying import Exported as Exported
    from mem.results.carrying import Extracted as Extracted
    from mem.results.carrying import Imported as Imported
    from mem.results.carrying import ImportOutcome as ImportOutcome
    from mem.results.carrying import Migrated as Migrated
    from mem.results.carrying import NotEmbedded as NotEmbedded
    from mem.results.carrying import RestoredBackup as RestoredBackup
    from mem.results.carrying import Streamed as Streamed
    from mem.results.carrying import Verified as Verified
    from mem.results.graph import Contradiction as Contradiction
    from mem.results.graph import Contradictions as Contradictions
    from mem.results.graph import Direction as Direction
    from mem.results.graph import EntityChanged as EntityChanged
    from mem.results.graph import EntityHit as EntityHit
    from mem.results.graph import EntityPage as EntityPage
    from mem.results.graph import EntityView as EntityView
    from mem.results.graph import Link as Link
    from mem.results.graph import Related as Related
    from mem.results.graph import Side as Side
    from mem.results.looking_back import BlindSpots as BlindSpots
    from mem.results.looking_back import HotEntities as HotEntities
    from mem.results.looking_back import HotEntity as HotEntity
    from mem.results.looking_back import MissedQuestion as MissedQuestion
    from mem.results.looking_back import Queue as Queue
    from mem.results.looking_back import Reflection as Reflection
    from mem.results.looking_back import Statistics as Statistics
    from mem.results.looking_back import UsedMemories as UsedMemories
    from mem.results.looking_back import UsedMemory as UsedMemory
    from mem.results.models import KnownModel as KnownModel
    from mem.results.models import KnownModels as KnownModels
    from mem.results.models import ModelCalibration as ModelCalibration
    from mem.results.models import ModelFiles as ModelFiles
    from mem.results.models import ModelStatus as ModelStatus
    from mem.results.models import ModelUsed as ModelUsed
    from mem.results.recalling import Change as Change
    from mem.results.recalling import ForeignNote as ForeignNote
    from mem.results.recalling import ForeignNotes as ForeignNotes
    from mem.results.recalling import History as History
    from mem.results.recalling import Hit as Hit
    from mem.results.recalling import LegScore as LegScore
    from mem.results.recalling import Memories as Memories
    from mem.results.recalling import Recall as Recall
    from mem.results.recalling import WindowUsed as WindowUsed
    from mem.results.reviewing import Event as Event
    from mem.results.reviewing import Log as Log
    from mem.results.reviewing import Maintained as Maintained
    from mem.results.reviewing import Promotion as Promotion
    from mem.results.reviewing import ReviewQueue as ReviewQueue
    from mem.results.reviewing import Subject as Subject
    from mem.results.reviewing import Undone as Undone
    from mem.results.reviewing import Waiting as Waiting
    from mem.results.setting_up import Check as Check
    from mem.results.setting_up import Configuration as Configuration
    from mem.results.setting_up import Diagnosis as Diagnosis
    from mem.results.setting_up import Hook as Hook
    from mem.results.setting_up import Hooks as Hooks
    from mem.results.setting_up import HookState as HookState
    from mem.results.setting_up import HostHooks as HostHooks
    from mem.results.setting_up import Setting as Setting
    from mem.results.setting_up import Text as Text
    from mem.results.setting_up import WorkerState as WorkerState
    from mem.results.setting_up import WorkerStatus as WorkerStatus
    from mem.results.telling import Cited as Cited
    from mem.results.telling import ContextBlock as ContextBlock
    from mem.results.telling import ContextItem as ContextItem
    from mem.results.telling import Explanation as Explanation
    from mem.results.telling import Place as Place
    from mem.results.telling import Sayings as Sayings
    from mem.results.telling import SessionEnded as SessionEnded
    from mem.results.telling import SessionPage as SessionPage
    from mem.results.telling import SessionStarted as SessionStarted
    from mem.results.telling import Traced as Traced
    from mem.results.telling import TracedMemory as TracedMemory
    from mem.results.writing import Action as Action
    from mem.results.writing import Batch as Batch
    from mem.results.writing import Changed as Changed
    from mem.results.writing import Forgotten as Forgotten
    from mem.results.writing import Observed as Observed
    from mem.results.writing import Refusal as Refusal
    from mem.results.writing import Stored as Stored
    from mem.results.writing import VectorState as VectorState

_ROOMS = {
    "writing": ("Action", "Batch", "Changed", "Forgotten", "Observed", "Refusal", "Stored", "VectorState"),
    "recalling": (
        "Change",
        "ForeignNote",
        "ForeignNotes",
        "History",
        "Hit",
        "LegScore",
        "Memories",
        "Recall",
        "WindowUsed",
    ),
    "graph": (
        "Contradiction",
        "Contradictions",
        "Direction",
        "EntityChanged",
        "EntityHit",
        "EntityPage",
        "EntityView",
        "Link",
        "Related",
        "Side",
    ),
    "telling": (
        "Cited",
        "ContextBlock",
        "ContextItem",
        "Explanation",
        "Place",
        "Sayings",
        "SessionEnded",
        "SessionPage",
        "SessionStarted",
        "Traced",
        "TracedMemory",
    ),
    "reviewing": ("Event", "Log", "Maintained", "Promotion", "ReviewQueue", "Subject", "Undone", "Waiting"),
    "looking_back": (
        "BlindSpots",
        "HotEntities",
        "HotEntity",
        "MissedQuestion",
        "Queue",
        "Reflection",
        "Statistics",
        "UsedMemories",
        "UsedMemory",
    ),
    "setting_up": (
        "Check",
        "Configuration",
        "Diagnosis",
        "Hook",
        "HookState",
        "Hooks",
        "HostHooks",
        "Setting",
        "Text",
        "WorkerState",
        "WorkerStatus",
    ),
    "carrying": (
        "BackedUp",
        "Backfilled",
        "BadRecord",
        "Compared",
        "Compressed",
        "CompressedGroup",
        "CompressedState",
        "Exported",
        "Extracted",
        "ImportOutcome",
        "Imported",
        "Migrated",
        "NotEmbedded",
        "RestoredBackup",
        "Streamed",
        "Verified",
    ),
    "models": ("KnownModel", "KnownModels", "ModelCalibration", "ModelFiles", "ModelStatus", "ModelUsed"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    """Open the room of an answer."""
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    globals()[name] = found
    return found
