/** A way out of Pyodide. `SECRET` in the code is a file of this machine, `PORT` a server on it that answers HTTP. */
export interface PyodideRoute {
  readonly name: string;
  /** Python whose last expression has a value if the route is open. */
  readonly code: string;
  /** What the sandbox says; null if only `SECRET` and `PORT` show whether it is closed. */
  readonly refusal: RegExp | null;
  /** Whether Pyodide by itself, without what we do around it, has this route. */
  readonly isOpenInPlain: boolean;
}

const NO_CODE = /EvalError: Code generation from strings disallowed/;
const NOT_HERE = /This is not available in the sandbox/;

/** The version of Pyodide in which the routes were looked for. Another one has to be looked at before it is used. */
export const LOOKED_AT_VERSION = "314.0.7";

export const PYODIDE_ROUTES: readonly PyodideRoute[] = [
  open("the constructor of functions", NO_CODE, `pyodide_js.setStdout.constructor("return process")().pid`),
  open(
    "the constructor of async functions",
    NO_CODE,
    `(await pyodide_js.loadPackage.constructor("return process")()).pid`,
  ),
  open(
    "the constructor of functions of the module",
    NO_CODE,
    `pyodide_js._module._malloc.constructor("return process")().pid`,
  ),
  open(
    "eval of Emscripten",
    /eval is not defined/,
    `m._emscripten_run_script_string(m.stringToNewUTF8("process.pid")) or 1`,
  ),
  open("run_js", /cannot import name 'eval'/, `from pyodide.code import run_js\nrun_js("process.pid")`),
  open("the global object as module js", /process/, "import js\njs.process.pid"),
  open("the environment of the process", /process/, "import js\njs.process.env.PATH"),
  open("process.binding", /process/, `import js\njs.process.binding("constants")`),
  open(
    "modules of Node by process",
    /process/,
    `import js\njs.process.getBuiltinModule("node:fs").readFileSync("SECRET", "utf8")`,
  ),
  open("modules of Node by require", /require/, `import js\njs.require("node:fs")`, false),
  open("the global object of a config", /process/, "pyodide_js._api.config.jsglobals.process.pid"),
  open(
    "a folder mounted by mountNodeFS",
    /hostPath '.*' does not exist/,
    `os.makedirs("/mnt/host")\npyodide_js.mountNodeFS("/mnt/host", "FOLDER")\nopen("/mnt/host/secret.txt").read()`,
  ),
  open(
    "a folder mounted as NODEFS",
    /lstatSync is not a function/,
    `os.makedirs("/mnt/node")\npyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, Object.fromEntries(to_js([["root", "FOLDER"]])), "/mnt/node")\nopen("/mnt/node/secret.txt").read()`,
  ),
  open("a file read by loadBinaryFile", NOT_HERE, `(await pyodide_js._api.loadBinaryFile("SECRET")).to_bytes()`),
  open(
    "a file read by loadBinaryFile as URL",
    NOT_HERE,
    `(await pyodide_js._api.loadBinaryFile("file://SECRET")).to_bytes()`,
  ),
  open(
    "a URL read by loadBinaryFile",
    /fetch is not defined/,
    `(await pyodide_js._api.loadBinaryFile("http://127.0.0.1:PORT/a")).to_bytes()`,
  ),
  open(
    "a package loaded from a URL",
    null,
    `await pyodide_js.loadPackage("http://127.0.0.1:PORT/a-1.0-py3-none-any.whl")\n1`,
  ),
  open(
    "a package loaded from a file",
    null,
    `await pyodide_js.loadPackage("file://FOLDER/a-1.0-py3-none-any.whl")\nimport secret_wheel\nsecret_wheel.secret`,
    false,
  ),
  open("a package loaded by its name", null, `await pyodide_js.loadPackage("numpy")\nimport numpy\n1`, false),
  open(
    "pyfetch",
    /is not defined/,
    `from pyodide.http import pyfetch\n(await pyfetch("http://127.0.0.1:PORT/a")).status`,
  ),
  open(
    "a socket through WebSockets",
    /unreachable/,
    `import socket\nsocket.create_connection(("127.0.0.1", PORT), timeout=2)\n1`,
  ),
  open("a socket of Node", NOT_HERE, `await pyodide_js._api.initializeNodeSockFS()\n1`),
  open("sockets of Node, asked for in public", NOT_HERE, `await pyodide_js.useNodeSockFS()\n1`),
  open(
    "HTTP by urllib",
    /unreachable|URLError/,
    `import urllib.request\nurllib.request.urlopen("http://127.0.0.1:PORT/a", timeout=2).status`,
  ),
  open("a WebSocket of Emscripten", /AssertionError/, `assert m._emscripten_websocket_new(0) != -1\n1`),
  open("a program by os.system", /AssertionError/, "assert os.system('exit 3') >> 8 == 3\n1"),
  open(
    "a program by system of C",
    /AssertionError/,
    "import ctypes\nassert ctypes.CDLL(None).system(b'exit 3') >> 8 == 3\n1",
  ),
  open("a program by subprocess", /does not support processes/, "import subprocess\nsubprocess.run(['id'])", false),
  open("a copy of the process", /Function not implemented/, "os.fork()", false),
  open("a thread", /can't start new thread/, "import threading\nthreading.Thread(target=print).start()", false),
  open("a signal to the parent", /not permitted|not implemented/, "os.kill(os.getppid(), 9)\n1", false),
  open("a signal to the first process", /not permitted|not implemented/, "os.kill(1, 9)\n1", false),
  open("a file of this machine by its path", /No such file/, `open("SECRET").read()`, false),
  open("the environment in /proc", /No such file|not permitted/i, `open("/proc/self/environ").read()`, false),
  open("memory of another process", /No such file/, `open("/proc/1/mem", "rb").read(1)`, false),
];

function open(name: string, refusal: RegExp | null, code: string, isOpenInPlain = true): PyodideRoute {
  return { name, code, refusal, isOpenInPlain };
}

/** What the routes stand on. */
export const ROUTES_START = `
import os
import pyodide_js
from pyodide.ffi import to_js

m = pyodide_js._module
Object = pyodide_js._api.config.constructor
`;
