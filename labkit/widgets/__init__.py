"""Widgets for notebooks: the compaction explorer, and the chat panel.

Each shows a picture and a table that say the same where there are no widgets: on a printed page, in a
terminal.
"""

from labkit.widgets.chatting import ChatPanel, chat_panel
from labkit.widgets.exploring import Explorer, explorer
from labkit.widgets.opened import close_all

__all__ = ["ChatPanel", "Explorer", "chat_panel", "close_all", "explorer"]
