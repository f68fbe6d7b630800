"""Conditions of format files (docs/format-files.md) as SQL over a trace's frames.

Only what the built-in formats and examples say in `pairs`: comparisons, `in`, `matches`, `startsWith`, `exists`, and, or, not.
"""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<range>-?\d+\.\.-?\d+)|(?P<number>0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?)"""
    r"""|(?P<mark>==|!=|<=|>=|&&|\|\||[<>!(){},])|(?P<word>[A-Za-z_][\w.\[\]-]*))"""
)

#: What stands for itself, as a column of the trace.
COLUMNS = {"type": "type", "from": '"from"', "length": "length", "heartbeat": "heartbeat", "index": '"index"'}


class Unsupported(Exception):
    """A condition that is not understood here."""


def as_sql(condition: str) -> str:
    """A condition as SQL, never null."""
    reader = _Reader(condition)
    sql = reader.alternatives()
    if reader.token is not None:
        raise Unsupported(condition)
    return f"coalesce({sql}, false)"


def value(place: str) -> str:
    """What a frame has at `type`, `fields.NAME`, `body.text` or `body.NAME`, as text; null if it has nothing there."""
    if place in COLUMNS:
        return f"cast({COLUMNS[place]} as varchar)"
    column, _, path = place.partition(".")
    if column not in ("fields", "body") or not path:
        raise Unsupported(place)
    if column == "fields" or path in ("text", "hex") or path.split(".")[0] in ("json", "protobuf", "fields"):
        return f"({column}->>'$.{_path(path)}')"
    kinds = ", ".join(f"body->>'$.{kind}.{_path(path)}'" for kind in ("json", "protobuf", "fields"))
    return f"coalesce({kinds})"


def _path(path: str) -> str:
    return re.sub(
        r"[^.\[\]]+",
        lambda part: part[0] if part[0].isdigit() and path[part.start() - 1 : part.start()] == "[" else f'"{part[0]}"',
        path,
    )


class _Reader:
    """Reads a condition from left to right."""

    def __init__(self, condition: str) -> None:
        self.condition = condition
        self.tokens = self._split()
        self.token: tuple[str, str] | None = None
        self.next()

    def _split(self):
        place = 0
        while self.condition[place:].strip():
            match = TOKEN.match(self.condition, place)
            if not match:
                raise Unsupported(self.condition)
            place = match.end()
            yield match.lastgroup, match[match.lastgroup]

    def next(self) -> tuple[str, str] | None:
        token, self.token = self.token, next(self.tokens, None)
        return token

    def takes(self, *marks: str) -> bool:
        if self.token is None or self.token[0] == "text" or self.token[1] not in marks:
            return False
        self.next()
        return True

    def alternatives(self) -> str:
        parts = [self.conjunction()]
        while self.takes("or", "||"):
            parts.append(self.conjunction())
        return f"({' or '.join(parts)})"

    def conjunction(self) -> str:
        parts = [self.negation()]
        while self.takes("and", "&&"):
            parts.append(self.negation())
        return f"({' and '.join(parts)})"

    def negation(self) -> str:
        if self.takes("not", "!"):
            return f"(not coalesce({self.negation()}, false))"
        if self.takes("("):
            inside = self.alternatives()
            if not self.takes(")"):
                raise Unsupported(self.condition)
            return inside
        return self.comparison()

    def comparison(self) -> str:
        token = self.next()
        if token is None or token[0] != "word":
            raise Unsupported(self.condition)
        place = token[1]
        if place == "heartbeat":
            return "heartbeat"
        left = value(place)
        if self.takes("exists"):
            return f"{left} is not null"
        for operator in ("==", "!=", "<=", ">=", "<", ">"):
            if self.takes(operator):
                return self.compared(left, {"==": "=", "!=": "<>"}.get(operator, operator))
        if self.takes("in"):
            return self.membership(left)
        for operator, function in (("matches", "regexp_matches"), ("startsWith", "starts_with"), ("endsWith", "ends_with")):
            if self.takes(operator):
                return f"{function}({left}, {self.literal()[1]})"
        raise Unsupported(self.condition)

    def compared(self, left: str, operator: str) -> str:
        kind, right = self.literal()
        return f"try_cast({left} as double) {operator} {right}" if kind == "number" else f"{left} {operator} {right}"

    def membership(self, left: str) -> str:
        if not self.takes("{"):
            raise Unsupported(self.condition)
        parts = []
        while not self.takes("}"):
            if self.token and self.token[0] == "range":
                first, last = self.next()[1].split("..")
                parts.append(f"try_cast({left} as double) between {first} and {last}")
            else:
                parts.append(self.compared(left, "="))
            self.takes(",")
            if self.token is None:
                raise Unsupported(self.condition)
        return f"({' or '.join(parts) or 'false'})"

    def literal(self) -> tuple[str, str]:
        token = self.next()
        if token is None:
            raise Unsupported(self.condition)
        kind, text = token
        if kind == "number":
            return kind, str(int(text, 16)) if text.startswith("0x") else text
        if kind == "text":
            text = re.sub(r'\\(["\\\'])', r"\1", text[1:-1]) if kind == "text" else text
        elif kind != "word":
            raise Unsupported(self.condition)
        return "text", "'" + text.replace("'", "''") + "'"
