#!/usr/bin/env python3
"""Writes frametap's manual pages: man.py HELP VERSION DIR

HELP is what `frametap --experimental-dump-help` printed: frametap.1 and a page for each command come from it, in mdoc(7), so
the manual says what --help says. What --help does not say (exit status, environment, files) is in manual-end.mdoc.
The pages' date is SOURCE_DATE_EPOCH.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

END = Path(__file__).with_name("manual-end.mdoc")
DATE = time.strftime("%B %-d, %Y", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))


# What roff would take for something else than the character that it is.
MARKUP = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga"})


def text(words):
    """Text as a line of mdoc: nothing in it is markup."""
    line = words.translate(MARKUP)
    return "\\&" + line if line.startswith(".") else line


def sentences(words):
    """Running text, a line for each sentence, as mdoc wants it."""
    return [text(sentence) for sentence in re.split(r"(?<=[.?!]) (?=[A-Z])", words)]


def argument(words):
    """Text as one argument of a macro: quoted, and never taken for a macro's name or a delimiter."""
    return '"\\&' + text(words).replace('"', '\\(dq') + '"'


def paragraphs(discussion):
    """A discussion as mdoc: indented lines are examples."""
    lines, example = [], False
    for line in discussion.split("\n"):
        if line.startswith("  ") and not example:
            lines += [".Bd -literal -offset indent"]
            example = True
        elif example and line and not line.startswith("  "):
            lines += [".Ed", ".Pp"]
            example = False
        if line:
            lines += [text(line[2:])] if example else sentences(line)
        elif not example:
            lines.append(".Pp")
    lines += [".Ed"] if example else []
    # An example, and the end of the discussion, have space of their own.
    return [line for index, line in enumerate(lines)
             if line != ".Pp" or index + 1 < len(lines) and not lines[index + 1].startswith((".Bd", ".Pp"))]


def heading(option):
    """How an argument is written, as the head of its entry."""
    if option["kind"] == "positional":
        return ".It Ar " + argument(option["valueName"]) + (" ..." if option["isRepeating"] else "")
    names = sorted((name for name in option["names"] if name["kind"] in ("short", "long")), key=lambda name: name["kind"] == "long")
    flags = ["Fl " + argument(name["name"] if name["kind"] == "short" else "-" + name["name"]) for name in names]
    return ".It " + " , ".join(flags) + (" Ar " + argument(option["valueName"]) if option["kind"] == "option" else "")


def described(option):
    words = option.get("abstract", "")
    notes = []
    if option["kind"] == "option" and not all(value in words for value in option.get("allValues", [])):
        notes.append("One of " + ", ".join(option["allValues"]) + ".")
    if "defaultValue" in option:
        notes.append("Default: " + option["defaultValue"] + ".")
    lines = sentences(" ".join([words, *notes]).strip())
    return [*lines, ".Pp", *paragraphs(option["discussion"])] if "discussion" in option else lines


def shown(command):
    """The arguments of a command that its help shows, without --help and --version."""
    return [option for option in command.get("arguments", [])
            if option["shouldDisplay"] and option["valueName"] not in ("help", "version")]


def entries(options):
    if not options:
        return []
    return [".Bl -tag -width Ds", *[line for option in options for line in (heading(option), *described(option))], ".El"]


def option_sections(command, section):
    """The options of a command: those without a heading first, then the others under theirs."""
    options = shown(command)
    titles = dict.fromkeys(option.get("sectionTitle") for option in options)
    lines = []
    for title in sorted(titles, key=lambda title: title is not None):
        lines += [f"{section} {title}"] if title else []
        lines += entries([option for option in options if option.get("sectionTitle") == title])
    return lines


def synopsis(command, path):
    """How a command is called."""
    options = shown(command)
    words = [".Nm frametap " + " ".join(path)] if path else [".Nm frametap"]
    if any(option["kind"] != "positional" for option in options):
        words.append(".Op Ar options")
    for option in options:
        if option["kind"] == "positional":
            name = "Ar " + argument(option["valueName"]) + (" ..." if option["isRepeating"] else "")
            words.append(f".Op {name}" if option["isOptional"] else f".{name}")
    return words


def subcommands(command):
    return [inner for inner in command.get("subcommands", []) if inner["shouldDisplay"] and inner["commandName"] != "help"]


def described_as(command):
    """What a command does."""
    more = paragraphs(command.get("discussion", ""))
    # An example has space of its own.
    return [*sentences(command["abstract"]), *([".Pp"] if more and not more[0].startswith(".Bd") else []), *more]


def begin(name, abstract, version):
    return [f'.Dd {DATE}', f".Dt {name.upper()} 1", f".Os frametap {version}", ".Sh NAME", f".Nm {name}", f".Nd {text(abstract.rstrip('.'))}", ".Sh SYNOPSIS"]


def first_page(root, version):
    lines = begin("frametap", root["abstract"], version)
    lines += [".Nm", ".Ar command", ".Op Ar options", ".Op Ar arguments", ".Nm", ".Fl -version", ".Nm", ".Ar command", ".Fl -help"]
    lines += [".Sh DESCRIPTION", *described_as(root), ".Sh COMMANDS", ".Bl -tag -width Ds"]
    for command in subcommands(root):
        lines += [f".It Xr frametap-{command['commandName']} 1", *sentences(command["abstract"])]
    return [*lines, ".El", *END.read_text(encoding="utf-8").rstrip("\n").split("\n")]


def page(command, version):
    """The page of a command: its options, or its own commands, each with theirs."""
    name = command["commandName"]
    inner = subcommands(command)
    lines = begin(f"frametap-{name}", command["abstract"], version)
    for each, path in [(each, [name, each["commandName"]]) for each in inner] or [(command, [name])]:
        lines += synopsis(each, path)
    lines += [".Sh DESCRIPTION", *described_as(command)]
    if inner:
        lines.append(".Sh COMMANDS")
        for each in inner:
            lines += [f".Ss {each['commandName']}", *described_as(each)]
            if command.get("defaultSubcommand") == each["commandName"]:
                lines += ["This is done where no command is given."]
            lines += option_sections(each, ".Pp\n.Sy")
    elif shown(command):
        lines += [".Sh OPTIONS", *option_sections(command, ".Ss")]
    return [*lines, ".Sh SEE ALSO", ".Xr frametap 1"]


def write(folder, name, lines):
    (folder / f"{name}.1").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    with open(arguments[0], encoding="utf-8") as file:
        root = json.load(file)["command"]
    version, folder = arguments[1], Path(arguments[2])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, "frametap", first_page(root, version))
    for command in subcommands(root):
        write(folder, f"frametap-{command['commandName']}", page(command, version))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
