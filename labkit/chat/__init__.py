"""`labkit chat`: the agent of the labs in a terminal, with its compaction to be seen.

`session` is the chat itself, without a terminal; `commands` are the words that begin with `/`; `terminal`
reads lines and shows what happens; `store` keeps the history.
"""

from labkit.chat.session import Chat

__all__ = ["Chat"]
