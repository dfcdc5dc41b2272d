import { execFile } from "node:child_process";
import { once } from "node:events";
import { readlinkSync, realpathSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { childCommand, PYODIDE_VERSION } from "@antiphon/sandbox/engines/pyodide/child-command.ts";
import type { Sandbox, SandboxEngine, SandboxRun } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PYODIDE_CONFINEMENTS, probePyodideHere } from "./pyodide-here.ts";
import { LOOKED_AT_VERSION, PYODIDE_ROUTES, type PyodideRoute, ROUTES_START } from "./pyodide-routes.ts";

const LIMITS = { memoryBytes: 1024 ** 3, diskBytes: 32 * 1024 * 1024, processesMax: 8 };
const CALL = { timeoutMs: 60_000, logCharactersMax: 50_000, imagesMax: 2, imageBytesMax: 1_000_000 };
const SIGNAL = new AbortController().signal;
/** In this time a program that listens to the signal would say so. */
const SIGNAL_MS = 500;
const SECRET = "the secret of this machine";

const folder = await mkdtemp(join(tmpdir(), "pyodide-escapes-"));
const secretPath = join(folder, "secret.txt");
let heard = 0;
const server = createServer((socket) => {
  heard += 1;
  socket.on("error", () => {});
  socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
});

beforeAll(async () => {
  await writeFile(secretPath, SECRET);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

test("the routes were looked for in this version of Pyodide", () => {
  expect(PYODIDE_VERSION, "look for new routes, try all of them, then name the version in pyodide-routes.ts").toBe(
    LOOKED_AT_VERSION,
  );
});

test("by itself, Pyodide has the routes that are closed here", async () => {
  const pieces = Object.fromEntries(PYODIDE_ROUTES.map((route) => [route.name, codeOf(route)]));
  const program = fileURLToPath(new URL("./plain-pyodide.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    JSON.stringify({ start: ROUTES_START, pieces }),
  ]);
  const ended: Record<string, string> = JSON.parse(stdout);
  const open = PYODIDE_ROUTES.filter(({ name }) => ended[name] === "open").map(({ name }) => name);
  expect(open).toEqual(PYODIDE_ROUTES.filter(({ isOpenInPlain }) => isOpenInPlain).map(({ name }) => name));
});

for (const confinement of PYODIDE_CONFINEMENTS) {
  const probe = await probePyodideHere(join(folder, "cache"), confinement);
  const why = probe.type === "works" ? "" : ` (${probe.why})`;
  describe.skipIf(probe.type === "fails")(`with ${confinement} around it, Pyodide closes${why}`, () => {
    let engine: SandboxEngine;
    let sandbox: Sandbox;

    beforeAll(async () => {
      if (probe.type === "fails") throw new Error(probe.why);
      ({ engine } = probe);
      sandbox = await engine.start(LIMITS, SIGNAL);
      await sandbox.runCode(ROUTES_START, CALL, SIGNAL);
    });

    afterAll(async () => {
      await engine?.close();
    });

    test.for(PYODIDE_ROUTES.map((route) => [route.name, route] as const))("%s", async ([, route]) => {
      const before = heard;
      const run = await sandbox.runCode(codeOf(route), CALL, SIGNAL);
      if (route.refusal !== null) expect(run.traceback).toMatch(route.refusal);
      expect(JSON.stringify(run.outputs)).not.toContain(SECRET);
      expect(heard).toBe(before);
      expect(run.end).toBeNull();
    });

    test("objects of Node within reach of those that Python gets", async () => {
      const run = await sandbox.runCode(WALK, CALL, SIGNAL);
      expect(run.traceback).toBeNull();
      const [seen, ...found]: readonly unknown[] = JSON.parse(logsOf(run));
      expect(found).toEqual([]);
      expect(seen).toBe(WALKED_MAX);
    });

    test("functions and objects in the frames of a stack", async () => {
      const run = await sandbox.runCode(STACK, CALL, SIGNAL);
      expect(run.traceback).toBeNull();
      expect(logsOf(run)).toBe("(True, [])");
    });

    test("members that Node or the child sets on objects", async () => {
      const own = await engine.start(LIMITS, SIGNAL);
      await own.runCode(ROUTES_START, CALL, SIGNAL);
      const run = await own.runCode(TAMPER, CALL, SIGNAL);
      expect(run).toEqual({ outputs: [], traceback: null, end: null });
      expect(await own.listFiles(1, SIGNAL)).toEqual([]);
      const after = await own.runCode(TAMPERED, CALL, SIGNAL);
      expect(after.traceback).toBeNull();
      expect(logsOf(after)).toBe("[]");
      await own.kill();
    });
  });
}

test.skipIf(process.platform !== "linux")("a signal opens no inspector in the child", async () => {
  const { program, args } = childCommand({ snapshot: null, wheels: null }, LIMITS, {
    confinement: "none",
    hasFilter: false,
  });
  const child = execFile(program, args);
  const closed = once(child, "close");
  let said = "";
  child.stderr?.on("data", (text) => (said += text));
  child.stdin?.on("error", () => {}); // The signal may end a child that has not begun.
  await once(child, "spawn");
  await vi.waitFor(() => expect(readlinkSync(`/proc/${child.pid}/exe`)).toBe(realpathSync(process.execPath)));
  child.kill("SIGUSR1");
  await sleep(SIGNAL_MS);
  child.stdin?.end();
  await closed;
  expect(said).toBe("");
});

function codeOf({ code }: PyodideRoute): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return code.replaceAll("SECRET", secretPath).replaceAll("FOLDER", folder).replaceAll("PORT", String(port));
}

function logsOf({ outputs }: SandboxRun): string {
  return outputs.map((output) => (output.type === "logs" ? output.logs : "")).join("");
}

/** Behind these come Python's memory, byte by byte, and what Pyodide does not survive touching. */
const WALKED_MAX = 2500;

/** Goes from object to object, by all members and prototypes, and looks for members that only Node's objects have. */
const WALK = `
import json
from pyodide.ffi import JsProxy
names = "getBuiltinModule mainModule _linkedBinding binding spawnSync execFileSync readdirSync lstatSync openSync createRequire registerHooks internalBinding reallyExit createServer Worker fetch".split()
Set = pyodide_js._api.errorConstructors.constructor
seen = Set.new()
queue = [(pyodide_js, "pyodide_js")]
found = []
count = 0
while queue and count < ${WALKED_MAX}:
    thing, path = queue.pop(0)
    try:
        if seen.has(thing):
            continue
        seen.set(thing, 1)
    except Exception:
        continue
    count += 1
    try:
        keys = list(Object.getOwnPropertyNames(thing)) + list(Object.getOwnPropertySymbols(thing))
    except Exception:
        continue
    if len(keys) > 10000:
        continue
    for key in keys:
        if isinstance(key, str) and key in names:
            found.append(path + "." + key)
        try:
            member = Object.getOwnPropertyDescriptor(thing, key)
        except Exception:
            continue
        for part in ("value", "get", "set"):
            try:
                value = getattr(member, part, None)
            except Exception:
                continue
            if isinstance(value, JsProxy):
                queue.append((value, path + "." + str(key)[:30]))
    parent = Object.getPrototypeOf(thing)
    if isinstance(parent, JsProxy):
        queue.append((parent, path + ".__proto__"))
print(json.dumps([count, *found[:20]]))
`;

const STACK = `
from pyodide.ffi import create_proxy
Error = Object.getPrototypeOf(pyodide_js._api.errorConstructors.get("RangeError"))
kept = []
def prepare(error, frames):
    kept.extend(frames)
    return "prepared"
proxy = create_proxy(prepare)
limit = Error.stackTraceLimit
Error.stackTraceLimit = 500
Error.prepareStackTrace = proxy
Error.new("x").stack
del Error.prepareStackTrace
Error.stackTraceLimit = limit
shown = [str(thing) for frame in kept for thing in (frame.getThis(), frame.getFunction())]
len(kept) > 10, [text for text in shown if text != "None" and not text.isdigit() and text != "[object WebAssembly.Instance]"]
`;

const TAMPER = `
from pyodide.ffi import create_proxy
caught = []
def catch(*given):
    caught.extend(given)
for name in ("fd", "then", "url", "handle", "binding", "format", "signal", "position"):
    descriptor = Object.new()
    descriptor.set = create_proxy(catch)
    descriptor.configurable = True
    Object.defineProperty(Object.prototype, name, descriptor)
`;

const TAMPERED = `
Object.new().fd = 1
assert caught == [1], caught
[name for thing in caught if type(thing).__name__ == "JsProxy" for name in dir(thing) if name in ("getBuiltinModule", "binding", "mainModule", "readdirSync", "openSync", "_handle")]
`;
