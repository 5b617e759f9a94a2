"""Build a prompt from layers with token budgets: for `prompt`, and for the briefing of hooks and adapters.

`Prompt.text` is for the system's role: texts that people wrote, and trusted facts. `Prompt.recall` is quoted
(`text.quoting.fence`), for the user's role: hits, today's notes, generated lines of the scratchpad, untrusted
facts. The same files, query and time give the same bytes; so the nonce of the quotation is derived from its
content, where `recall` draws a random one.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

import msgspec

from mnemark.facts.visible import PlainWorkspace
from mnemark.files import trust
from mnemark.memory.curation import identity
from mnemark.memory.curation.identity import Part
from mnemark.memory.prompt.parts import (
    JOIN,
    FactLine,
    Layer,
    PromptFacts,
    cut,
    fact_layer,
    is_chinese,
    pieces_of,
)
from mnemark.memory.prompt.quoted import PromptRequest, QuotedBlock, scratchpads
from mnemark.text.markdown.generated import outside
from mnemark.text.words.similarity import key_of
from mnemark.text.words.tokens import estimate_tokens

LAYERS: Final[Mapping[str, int]] = {
    "identity": 350, "persona": 200, "runtime": 150, "rules": 300, "scratchpad": 500,
    "core": 400, "dynamic": 300, "profile": 120, "catalogs": 800,
}  # fmt: skip
"""Tokens by layer, in the order shown; together more than a prompt, as layers are seldom full."""
_ORDER: Final = (
    "identity", "rules", "dynamic", "core", "profile", "persona", "scratchpad", "catalogs", "runtime",
)  # fmt: skip
"""The order in which layers get the tokens that others do not use."""
_HEADINGS: Final[Mapping[str, tuple[str, str]]] = {
    "identity": ("Who you are", "你是谁"),
    "persona": ("Persona", "角色"),
    "runtime": ("Now", "当前"),
    "rules": ("Rules to follow", "需遵守的规则"),
    "scratchpad": ("Scratchpad", "工作便笺"),
    "core": ("What you know", "核心记忆"),
    "profile": ("The user", "用户"),
    "catalogs": ("What memory holds (search it for details)", "记忆目录（需要时检索）"),
}
_WEEKDAYS: Final = "一二三四五六日"


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt and its parts."""

    text: str
    """For the system's role."""
    recall: str
    """One quoted block for the user's role; empty if there is nothing to quote."""
    parts: tuple[Part, ...]
    """All layers in order, empty ones included."""
    budget: int
    degraded: tuple[str, ...] = ()
    """Parts of the recall that did not finish in time, and problems of persona files."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of both texts."""
        return estimate_tokens(self.text) + estimate_tokens(self.recall)

    def messages(self) -> list[dict[str, str]]:
        """Return both texts as messages before the conversation, the quotation in the user's role."""
        found = [{"role": "system", "content": self.text}, {"role": "user", "content": self.recall}]
        return [message for message in found if message["content"]]


class PromptBuilder:
    """Assembles the layers of one prompt.

    Args:
        ws: the workspace.
        asked: what the prompt is made for.
        facts: the facts that hold.
        catalogue: takes the number of facts by subject, and whether to answer in Chinese; returns a line for
            each kind of thing in memory. Without it, there is no catalogue.
        more: further text to quote.
    """

    def __init__(
        self,
        ws: PlainWorkspace,
        asked: PromptRequest,
        facts: PromptFacts,
        *,
        catalogue: Callable[..., list[str]] | None = None,
        more: Sequence[Layer] = (),
    ) -> None:
        self._ws = ws
        self._asked = asked
        self._cache: dict[str, list[identity.Source]] = {}
        self._facts = facts
        self._things = catalogue
        self._quoted = QuotedBlock(ws, asked, facts.other, more)
        wrong = [f"{one.path}: {one.reason}" for one in self._quoted.problems]
        if not trust.is_trusted(ws.root):
            wrong.append(f"this folder was not made here, so it is only quoted: `mnemark trust {ws.root}`")
        self.degraded = (*(asked.recall.degraded if asked.recall else ()), *wrong)
        whole = [one.text for name in identity.BUDGETS for one in self._sources(name)]
        whole += [one.line for one in (*self._facts.rules, *self._facts.profile)]
        self._chinese = is_chinese(whole)

    def build(self, caps: Mapping[str, int], budget: int, *, given: Collection[str] = ()) -> Prompt:
        """Cut the layers to the budget: each to its share, then to what others leave.

        Args:
            caps: tokens by layer, in the order shown.
            budget: tokens of everything together.
            given: layers whose tokens were chosen: a recall grows no further than that.
        """
        if not trust.is_trusted(self._ws.root):  # what a stranger wrote is quoted, never the system's
            caps = {name: cap if name in {"runtime", "dynamic"} else 0 for name, cap in caps.items()}
        share = min(1.0, budget / max(1, sum(caps.values())))
        parts = {name: self._part(name, int(cap * share)) for name, cap in caps.items()}
        spare = budget - sum(part.tokens for part in parts.values()) - len(parts)
        for name in _ORDER:
            most = caps[name]
            if name == "dynamic" and name not in given and self._asked.recall:
                most = max(most, self._ws.config.recall_budget)
            part = parts[name]
            if part.left_out and most and spare > 0:
                parts[name] = self._part(name, min(most, max(part.budget, part.tokens + spare)))
                spare -= parts[name].tokens - part.tokens
        refs = frozenset(one.ref for one in self.shown_facts(parts.values()))
        if self._quoted.leave_out(refs, self._lines(parts.values())):
            parts["dynamic"] = self._part("dynamic", parts["dynamic"].budget)
        return self._fitted(parts, budget)

    def shown_facts(self, parts: Iterable[Part]) -> tuple[FactLine, ...]:
        """Return the facts that stand in the system's text."""
        lines, facts = self._lines(parts), self._facts
        every = (*facts.rules, *facts.profile, *facts.core, *facts.skills)
        return tuple(one for one in every if one.line in lines)

    @staticmethod
    def _lines(parts: Iterable[Part]) -> frozenset[str]:
        return frozenset(line for part in parts if part.role == "system" for line in part.text.splitlines())

    def _fitted(self, parts: dict[str, Part], budget: int) -> Prompt:
        for name in reversed(_ORDER):  # the estimate of the whole can exceed the sum of rounded estimates
            made = self._prompt(parts, budget)
            if made.tokens <= budget:
                return made
            over = made.tokens - budget
            parts[name] = self._part(name, max(0, parts[name].tokens - over))
        return self._prompt(parts, budget)

    def _prompt(self, parts: Mapping[str, Part], budget: int) -> Prompt:
        ordered = tuple(parts[name] for name in LAYERS)
        text = JOIN.join(part.text for part in ordered if part.role == "system" and part.text)
        quoted = parts["dynamic"].text
        return Prompt(text=text, recall=quoted, parts=ordered, budget=budget, degraded=self.degraded)

    def _part(self, name: str, budget: int) -> Part:
        if budget <= 0:
            return Part(name=name, role="user" if name == "dynamic" else "system")
        match name:
            case "identity" | "persona":
                return self._compiled(name, budget)
            case "core" | "profile":
                return self._with_facts(name, budget)
            case "dynamic":
                return self._quoted.part(budget)
            case _:
                return cut(self._layer(name), budget)

    def _heading(self, name: str, sources: Sequence[str] = ()) -> str:
        words = _HEADINGS[name][self._chinese]
        return f"## {words} ({', '.join(sources)})" if sources else f"## {words}"

    def _sources(self, name: str) -> list[identity.Source]:
        if name not in self._cache:
            asked = self._asked
            found = identity.sources(self._ws, name, scope=asked.scope, persona=asked.persona)
            known = [one for one in found if one.path.rpartition("/")[2].casefold() not in asked.known]
            self._cache[name] = known
        return self._cache[name]

    def _compiled(self, name: str, budget: int) -> Part:
        heading = self._heading(name, [one.path for one in self._sources(name)])
        room = budget - estimate_tokens(heading) - 2
        if room <= 0:
            return Part(name=name, budget=budget)
        found = identity.section(self._ws, name, self._sources(name), room)
        text = f"{heading}{JOIN}{found.text}" if found.text else ""
        return msgspec.structs.replace(found, text=text, tokens=estimate_tokens(text), budget=budget)

    def _with_facts(self, name: str, budget: int) -> Part:
        """Return people's text and below it the current facts; each gets half, and what the other leaves."""
        facts = self._new_facts(name, budget)
        written = self._compiled(name, budget)
        if not facts:
            return written
        if written.text:
            needed = 0
            for one in facts:
                needed += estimate_tokens(one.line) + 1
                if needed > budget // 2:  # more changes nothing
                    break
            written = self._compiled(name, max(budget // 2, budget - needed - 1))
        layer = fact_layer(name, "" if written.text else self._heading(name), facts)
        shown = cut(layer, budget - written.tokens - bool(written.text))
        text = JOIN.join(filter(None, (written.text, shown.text)))
        return Part(
            name=name, text=text, sources=written.sources + shown.sources, tokens=estimate_tokens(text),
            budget=budget, left_out=written.left_out + shown.left_out, by=written.by,
        )  # fmt: skip

    def _new_facts(self, name: str, budget: int) -> Sequence[FactLine]:
        """Return the facts of a layer without those in people's text, which is checked up to the budget."""
        facts = self._facts.core if name == "core" else self._facts.profile
        lines = (line for one in self._sources(name) for line in one.text.splitlines()) if facts else ()
        by_people = {key_of(line.strip(" -*#\t")) for line in lines}
        new: list[FactLine] = []
        for number, one in enumerate(facts):
            if budget < 0:  # these are not shown, only counted
                return (*new, *facts[number:])
            if key_of(one.line[2:]) not in by_people:
                new.append(one)
                budget -= estimate_tokens(one.line)
        return new

    def _layer(self, name: str) -> Layer:
        if name == "rules":
            return fact_layer(name, self._heading(name), self._facts.rules)
        if name == "runtime":
            return Layer(name=name, heading=self._heading(name), pieces=self._runtime())
        if name == "scratchpad":
            pairs = [(path, outside(text)) for path, text in scratchpads(self._ws, self._asked)]
            pieces = [piece for _, text in pairs for piece in pieces_of(_untitled(text))]
            paths = [path for path, text in pairs if text.strip()]
            head = self._heading(name, paths)
            return Layer(name=name, heading=head, pieces=tuple(pieces), sources=tuple(paths), joint=JOIN)
        lines = [*self._catalogue, *(one.line for one in self._facts.skills)]
        return Layer(name=name, heading=self._heading(name), pieces=tuple(lines))

    @cached_property
    def _catalogue(self) -> list[str]:
        return self._things(self._facts.subjects, chinese=self._chinese) if self._things else []

    def _runtime(self) -> tuple[str, ...]:
        """Return the lines about date, owner and session; no clock time, to keep the prompt cacheable."""
        now, config = self._asked.now, self._ws.config
        day, zone = f"{now:%Y-%m-%d}", config.timezone or now.tzname() or ""
        values = (config.owner, self._asked.session, self._asked.scope)
        if self._chinese:
            date = f"- 日期：{day} 星期{_WEEKDAYS[now.weekday()]}" + (f"（{zone}）" if zone else "")
            labels, colon = ("主人", "会话", "记忆范围"), "："
        else:
            date = f"- Date: {day}, {now:%A}" + (f" ({zone})" if zone else "")
            labels, colon = ("Owner", "Session", "Memory of"), ": "
        named = zip(labels, values, strict=True)
        return (date, *(f"- {label}{colon}{value}" for label, value in named if value))


def _untitled(text: str) -> str:
    """Remove the first heading of the file, as the layer has one."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") else text
