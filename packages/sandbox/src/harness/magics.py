"""Replaces lines that only notebooks know, such as `!pip install x` and `%matplotlib inline`, by Python.

A line is replaced only where Python cannot read it, so that text and expressions that look alike stay as they are.
"""

import ast
import re

_IGNORED = {
    "aimport", "autoindent", "automagic", "autoreload", "colors", "config", "inline", "load_ext", "matplotlib", "pdb",
    "precision", "pylab", "reload_ext", "unload_ext", "xmode",
}  # fmt: skip
_IGNORED_OF_CELLS = {"capture", "python", "python3", "time"}
_INSTALLER = re.compile(
    r"[!%]{0,2}\s*(?:sudo\s+)?(?:(?:python3?|\{sys\.executable\})\s+-m\s+)?(?:pip3?|conda|mamba|uv\s+pip)\s+(\S.*)?$"
)
_MAGIC = re.compile(r"%{1,2}(\w+)\s*(.*)$", re.DOTALL)
_ASSIGNED = re.compile(r"[\w\s,]+=\s*[!%]\s*\w")
_HELP = re.compile(r"\?{1,2}\s*[\w.]+$|[\w.]+\s*\?{1,2}$")
_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*?)(?:\[[^\]]*\])?(?:[<>=!~].*)?$")
_TOLD_NAMES_MAX = 60
_TOLD_CHARACTERS_MAX = 80


def read_code(code, name, packages):
    """The syntax tree of the code, and the code that it is the tree of. Lines stay where they are.

    packages() gives the names of what is installed. Raises SyntaxError if the code is wrong in another way.
    """
    lines = code.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None)
    if first is not None and lines[first].startswith("%%"):
        _replace_cell(lines, first, packages)
    for _ in range(len(lines)):
        text = "\n".join(lines)
        try:
            return ast.parse(text, name), text
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
            if not 0 <= at < len(lines) or not _replace_line(lines, at, packages):
                raise
    return ast.parse("\n".join(lines), name), "\n".join(lines)


def _replace_cell(lines, first, packages):
    """Magic of a whole cell: the others keep its lines from running, since they are no Python."""
    magic = _MAGIC.match(lines[first])
    if magic and magic.group(1) in _IGNORED_OF_CELLS:
        lines[first] = ""
    else:
        lines[first:] = [_printing(_told(lines[first].strip(), packages)), *[""] * (len(lines) - first - 1)]


def _replace_line(lines, at, packages):
    """Returns whether the line was one of a notebook."""
    line = lines[at].strip()
    if not (line[:1] in ("!", "%") or _INSTALLER.match(line) or _HELP.match(line) or _ASSIGNED.match(line)):
        return False
    end = at
    while lines[end].endswith("\\") and end + 1 < len(lines):
        end += 1
    whole = " ".join(part.rstrip("\\").strip() for part in lines[at : end + 1])
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    magic = _MAGIC.match(whole)
    if magic and magic.group(1) in _IGNORED:
        python = "pass"
    elif magic and magic.group(1) == "time" and magic.group(2):
        python = magic.group(2)
    else:
        python = _printing(_told(whole, packages))
    lines[at : end + 1] = [indent + python, *[""] * (end - at)]
    return True


def _printing(sentence):
    return "print(%r)" % sentence


def _told(line, packages):
    """Why a line was not run, and what helps."""
    shown = line if len(line) <= _TOLD_CHARACTERS_MAX else line[:_TOLD_CHARACTERS_MAX] + "…"
    installer = _INSTALLER.match(line)
    if installer:
        return "[`%s` was not run, because nothing can be installed here. %s]" % (
            shown,
            _told_packages(installer.group(1) or "", packages()),
        )
    if _HELP.match(line):
        return "[`%s` was not run. Use help(…) instead.]" % shown
    unset = ", and its variable not set" if _ASSIGNED.match(line) else ""
    return (
        "[`%s` was not run%s, because only Python runs here, without the commands and magics of notebooks. "
        "Use Python instead, such as os, pathlib and shutil.]" % (shown, unset)
    )


def _told_packages(request, installed):
    known = {_plain(name): name for name in installed}
    words = [_REQUIREMENT.match(word.strip("'\"")) for word in request.split()[1:] if not word.startswith("-")]
    there = [known[_plain(word.group(1))] for word in words if word and _plain(word.group(1)) in known]
    if words and len(there) == len(words):
        return "%s is there already: import it." % ", ".join(there)
    names = sorted(installed, key=str.lower)
    more = len(names) - _TOLD_NAMES_MAX
    listed = ", ".join(names[:_TOLD_NAMES_MAX]) + (" and %d more" % more if more > 0 else "")
    return "Use %sPython's standard library." % ("these packages: %s; or " % listed if names else "")


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()
