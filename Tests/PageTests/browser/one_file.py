"""The page and its data as one file, as `frametap report --as html` writes it. The rules for modules are in the page's contract."""

import base64
import hashlib
import json
import pathlib
import re
import sys

WEB = pathlib.Path(__file__).resolve().parents[3] / "Sources" / "Page" / "Web"
IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.M)


def modules(entry="app.js"):
    """All modules, those that are imported first."""
    done = []

    def add(path, under_way=()):
        if path in done or path in under_way:
            return
        for name in IMPORT.findall(path.read_text()):
            add((path.parent / name).resolve(), (*under_way, path))
        done.append(path)

    add((WEB / entry).resolve())
    return done


def script():
    """One script: imports dropped, `export` removed. All names at the top level of modules differ, so nothing else is needed."""
    parts = []
    for path in modules():
        text = IMPORT.sub("", path.read_text())
        assert not re.search(r"^(import|export (default|\{|\*))", text, re.M), f"{path.name}: an import or export that cannot be joined"
        parts.append(re.sub(r"^export ", "", text, flags=re.M))
    return "\n".join(parts)


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def data(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def page(lines, report=None):
    index = (WEB / "index.html").read_text()
    styles = "\n".join((WEB / name).read_text() for name in re.findall(r'href="(style/[^"]+)"', index))
    code = script()
    policy = f"default-src 'none'; script-src {digest(code)}; style-src {digest(styles)}; img-src data: blob:; base-uri 'none'; form-action 'none'"
    index = re.sub(r'<link rel="stylesheet"[^>]*>\n', "", index)
    index = index.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">')
    index = index.replace('<script type="module" src="app.js"></script>\n', f"<style>{styles}</style>\n")
    blocks = f'<script type="application/json" id="trace">{data(lines)}</script>\n'
    if report is not None:
        blocks += f'<script type="application/json" id="report">{data(report)}</script>\n'
    return index.replace("</body>", f'{blocks}<script type="module">{code}</script>\n</body>')


if __name__ == "__main__":
    trace = [json.loads(line) for line in open(sys.argv[1])]
    summary = json.load(open(sys.argv[2])) if len(sys.argv) > 2 else None
    sys.stdout.write(page(trace, summary))
