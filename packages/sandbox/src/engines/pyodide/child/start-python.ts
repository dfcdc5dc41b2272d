import { readFileSync } from "node:fs";
import type { PyodideAPI } from "pyodide";
import type { PyCallable } from "pyodide/ffi";
import type { ChildOpening } from "./opening.ts";

const TERMINALS = ["/dev/tty", "/dev/tty1"];
/** Python's own path, and its environment. */
const PYTHON = "/usr/bin/python3";
const ENVIRONMENT = {
  HOME: "/mnt/data",
  LANG: "C.UTF-8",
  MPLBACKEND: "module://antiphon_pictures",
  MPLCONFIGDIR: "/tmp/matplotlib",
};

const WHEELS_SOURCE = readFileSync(new URL("./wheels.py", import.meta.url), "utf8");

/** Modules that the notebook and most code need; imported once, they are in every snapshot. */
const PREPARE = `
def prepare(notebook_source, wheels_source):
    import asyncio, collections, csv, dataclasses, datetime, decimal, fractions, functools, io, itertools, json, math
    import os, pathlib, random, re, statistics, string, sys, textwrap, time, traceback, types, zipfile

    for name, source in (("antiphon_notebook", notebook_source), ("antiphon_wheels", wheels_source)):
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, "<%s>" % name, "exec"), module.__dict__)
    from antiphon_wheels import wheels

    return lambda name, data: wheels.add(name, data.to_bytes())
prepare`;

/**
 * Creates the notebook of a session. Reseeds random, because all sessions share the snapshot's state. Coroutines return
 * errors as values, because Pyodide's event loop would print raised ones.
 */
export const START = `
def start(emit_log, emit_image, read_wheel):
    import random, sys
    from antiphon_notebook import Notebook
    from antiphon_wheels import wheels
    from pyodide.ffi import run_sync

    async def outcome(coroutine):
        try:
            return await coroutine, None
        except BaseException as error:
            return None, error.with_traceback(error.__traceback__.tb_next)

    def run_coroutine(coroutine):
        value, error = run_sync(outcome(coroutine))
        if error is not None:
            raise error
        return value

    random.seed()
    wheels.start(read_wheel)
    run = Notebook(emit_log, emit_image, None, run_coroutine, lambda: wheels.names).run
    return {"run": run, "python": "%d.%d" % sys.version_info[:2], "packages": wheels.names}
start`;

type LoadPyodide = typeof import("pyodide")["loadPyodide"];
type Options = NonNullable<Parameters<LoadPyodide>[0]>;

/** Rejects if Pyodide does not start, for example from a broken snapshot. */
export async function startPython(opening: ChildOpening, snapshot: Uint8Array | null): Promise<PyodideAPI> {
  const silent = (): void => {};
  const options: Options = {
    indexURL: opening.pyodide,
    jsglobals: {},
    env: ENVIRONMENT,
    _sysExecutable: PYTHON,
    stdin: () => null,
    stdout: silent,
    stderr: silent,
    ...(opening.snapshot === "make" && { _makeSnapshot: true }),
    ...(snapshot !== null && { _loadSnapshot: snapshot }),
  };
  const { loadPyodide }: { loadPyodide: LoadPyodide } = await import(`file://${opening.pyodide}pyodide.mjs`);
  const python = await loadPyodide(options);
  // Without these, output without a line end would fill the memory.
  const sink = { write: ({ length }: Uint8Array): number => length };
  python.setStdout(sink);
  python.setStderr(sink);
  for (const terminal of TERMINALS) python.FS.unlink(terminal); // They buffer output without a line end too.
  return python;
}

/** The content of a snapshot beyond Pyodide itself. */
export function prepare(python: PyodideAPI, { notebook }: ChildOpening, wheels: ReadonlyMap<string, Uint8Array>): void {
  const prepareWith: PyCallable = python.runPython(PREPARE);
  const addWheel: PyCallable = prepareWith(notebook, WHEELS_SOURCE);
  for (const [name, bytes] of wheels) addWheel(name, bytes);
  addWheel.destroy();
  prepareWith.destroy();
}
