"""Unpacks wheels when the first of their modules is imported."""

import importlib.abc
import importlib.machinery
import io
import os
import re
import site
import sys
import sysconfig
import zipfile


class Wheels(importlib.abc.MetaPathFinder):
    def __init__(self):
        self.names = []
        self._modules = {}
        self._read = None

    def add(self, name, data):
        """Notes what a wheel holds, if this Python can use it."""
        parts = name[: -len(".whl")].split("-")
        if not name.endswith(".whl") or len(parts) < 5 or not _fits(parts[-3], parts[-2], parts[-1]):
            return
        self.names.append(parts[0].replace("_", "-"))
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            for path in wheel.namelist():
                module = _module_of(path)
                if module and name not in self._modules.setdefault(module, []):
                    self._modules[module].append(name)

    def start(self, read):
        """read(name) gives the bytes of a wheel."""
        self._read = read
        if self._modules:
            sys.meta_path.insert(0, self)

    def find_spec(self, fullname, path=None, target=None):
        for name in self._modules.pop(fullname, ()):
            folder = site.getsitepackages()[0]
            with zipfile.ZipFile(io.BytesIO(self._read(name).to_bytes())) as wheel:
                wheel.extractall(folder)
            importlib.invalidate_caches()
        return None


def _fits(python, abi, platform):
    own = "cp%d%d" % sys.version_info[:2]
    pythons, abis, platforms = python.split("."), abi.split("."), platform.split(".")
    if "any" in platforms and "none" in abis:
        return "py3" in pythons or own in pythons
    release = sysconfig.get_config_var("PYODIDE_ABI_VERSION") or sysconfig.get_config_var("PYEMSCRIPTEN_PLATFORM_VERSION")
    here = {re.sub(r"[-.]", "_", sysconfig.get_platform())}
    here |= {"%s_%s_wasm32" % (kind, release) for kind in ("pyemscripten", "pyodide")}
    return not here.isdisjoint(platforms) and (own in pythons and own in abis or "abi3" in abis)


def _module_of(path):
    """The module at the top to which a file of a wheel belongs; None for data about the wheel."""
    first, _, rest = path.partition("/")
    if first.endswith((".dist-info", ".data")):
        return None
    if rest:
        return first if first.isidentifier() else None
    for ending in (*importlib.machinery.EXTENSION_SUFFIXES, ".py"):
        if first.endswith(ending):
            return first[: -len(ending)]
    return None


wheels = Wheels()
