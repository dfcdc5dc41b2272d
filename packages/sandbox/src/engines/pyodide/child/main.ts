/**
 * A process that runs Python in Pyodide and uses the protocol of `harness/frames.ts` on its input and output.
 * `child-command.ts` starts it with very limited rights.
 */

import { readdirSync, readFileSync } from "node:fs";
import type { PyodideAPI } from "pyodide";
import type { PyBuffer, PyCallable, PyDict } from "pyodide/ffi";
import { closeRealm, replaceProcess } from "./close-realm.ts";
import { PIECE_BYTES_MAX, type PipeFrame, receiveFrame, sendFrame } from "./frame-pipe.ts";
import { gateModules } from "./given-modules.ts";
import { limitFiles, MemoryFiles } from "./memory-files.ts";
import { readChildOpening } from "./opening.ts";
import { prepare, START, startPython } from "./start-python.ts";

const FILES_AT_ONCE = 200;
const WHY_CHARACTERS_MAX = 300;
/** At the end of a snapshot file; see `snapshot.ts`. */
const SNAPSHOT_DIGEST_BYTES = 32;
/** A character has at most four bytes. */
const LOG_CHARACTERS_MAX = PIECE_BYTES_MAX / 4;

const node = process;
const exit: (status: number) => never = Reflect.get(node, "reallyExit").bind(node);
const toBytes = new TextEncoder();

const hello = receiveFrame();
if (hello === null) exit(0);
const opening = readChildOpening(hello.head);
const wheels = readWheels(opening.wheels);
const gate = gateModules(opening.pyodide);
node.on("unhandledRejection", () => {}); // Tasks of code that nobody awaits.
replaceProcess();

const snapshot = readSnapshot();
const python = await startPython(opening, snapshot);
gate.close();
if (snapshot === null) prepare(python, opening, wheels);
if (opening.snapshot === "make") sendSnapshot(python.makeMemorySnapshot());
closeRealm(node);
await serve(python);

function readSnapshot(): Uint8Array | null {
  if (opening.snapshot === null || opening.snapshot === "make") return null;
  return readFileSync(opening.snapshot.file).subarray(0, -SNAPSHOT_DIGEST_BYTES);
}

function readWheels(folder: string | null): ReadonlyMap<string, Uint8Array> {
  const names = folder === null ? [] : readdirSync(folder).filter((name) => name.endsWith(".whl"));
  return new Map(names.toSorted().map((name) => [name, new Uint8Array(readFileSync(`${folder}${name}`))]));
}

function sendSnapshot(bytes: Uint8Array): never {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES_MAX)
    sendFrame({ is: "piece" }, bytes.subarray(start, start + PIECE_BYTES_MAX));
  sendFrame({ is: "done" });
  return exit(0);
}

async function serve(api: PyodideAPI): Promise<never> {
  const files = new MemoryFiles(api.FS);
  limitFiles(api.FS, opening.filesBytesMax);
  const dict: PyDict = api.runPython(START)(sendLog, sendImage, (name: string) => wheels.get(name));
  const run: PyCallable = dict.get("run");
  sendFrame({ is: "ready", python: dict.get("python"), hasShell: false });
  for (;;) {
    const request = receiveFrame();
    if (request === null) return exit(0);
    try {
      if (request.head["do"] === "run") await runCode(run, request.head);
      else if (request.head["do"] === "packages") sendFrame({ is: "packages", names: dict.get("packages").toJs() });
      else serveFile(files, request);
    } catch (error) {
      if ("pyodide_fatal_error" in Object(error) || request.head["do"] === "run") exit(1);
      sendFrame({ is: "failed", why: why(error) });
    }
  }
}

async function runCode(run: PyCallable, head: PipeFrame["head"]): Promise<void> {
  const { code, logCharactersMax, imagesMax, imageBytesMax } = head;
  const traceback: unknown = await run.callPromising(code, logCharactersMax, imagesMax, imageBytesMax);
  sendFrame({ is: "ran", traceback: typeof traceback === "string" ? traceback : null });
}

function serveFile(files: MemoryFiles, { head, data }: PipeFrame): void {
  const path = String(head["path"]);
  const offset = Number(head["offset"]);
  switch (head["do"]) {
    case "write":
      files.write(path, offset, data);
      return sendFrame({ is: "done" });
    case "remove":
      files.remove(path);
      return sendFrame({ is: "done" });
    case "read":
      return sendFrame({ is: "piece" }, files.read(path, offset, Math.min(Number(head["most"]), PIECE_BYTES_MAX)));
    case "list":
      return sendFiles(files, Number(head["most"]));
    default:
      throw new Error("This cannot be done here.");
  }
}

function sendFiles(files: MemoryFiles, most: number): void {
  const entries = files.list(most);
  for (let start = 0; start < entries.length; start += FILES_AT_ONCE)
    sendFrame({ is: "files", files: entries.slice(start, start + FILES_AT_ONCE), last: false });
  sendFrame({ is: "files", files: [], last: true });
}

function sendLog(text: string): void {
  for (let start = 0; start < text.length; ) {
    const end = start + LOG_CHARACTERS_MAX;
    const isCutInTwo = text.slice(end - 1, end + 1).length === 2 && !text.slice(start, end).isWellFormed();
    const piece = text.slice(start, isCutInTwo ? end - 1 : end);
    sendFrame({ is: "log" }, toBytes.encode(piece));
    start += piece.length;
  }
}

function sendImage(png: PyBuffer): void {
  const { data: view } = png.getBuffer("u8");
  const data = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let start = 0; start < data.length; start += PIECE_BYTES_MAX) {
    const end = start + PIECE_BYTES_MAX;
    sendFrame({ is: "image", last: end >= data.length }, data.subarray(start, end));
  }
}

function why(error: unknown): string {
  const number: unknown = Reflect.get(Object(error), "errno");
  const messages: Readonly<Record<string, string>> = {
    20: "File exists",
    44: "No such file or directory",
    51: "No space left on device",
    54: "Not a directory",
  };
  if (typeof number === "number") return messages[number] ?? `Error ${number} of the file system`;
  return (error instanceof Error ? error.message : String(error)).slice(0, WHY_CHARACTERS_MAX);
}
