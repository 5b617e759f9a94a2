"""What was acknowledged and waits for its Markdown without the end of a session: written with each sync."""

from typing import TYPE_CHECKING

from mnemark.memory.journal.sessions import state_of

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def bring_down(memory: "Memory") -> None:
    """Write down observations, attachments and descriptions that wait; what is busy waits on."""
    state = state_of(memory)
    with state.lock:
        state.refresh()
        waits = state.waiting or state.unnoted() or state.undescribed()
        if memory.readonly or not waits:
            return
        waiting, state.waiting = state.waiting, []
    from mnemark.memory.sessions import attachments, observations

    observations.note_down(memory)
    for session, placed in waiting:
        given = frozenset(session.given)
        _, busy = attachments.bring_in(memory, session.scope, session.path, [placed], given=given)
        if busy:
            with state.lock:
                state.waiting.append((session, placed))
    attachments.fill_in_rest(memory)
