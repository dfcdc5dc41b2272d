import { type SandboxFile, type SandboxImage } from "../ports/sandbox-engine.ts";
import { BadFrame, type SandboxFrame } from "./frames.ts";

/** Messages from the sandbox's side. Code in the sandbox can send the same. */
export type HarnessReply =
  /** The sandbox accepts requests. */
  | { readonly is: "ready"; readonly python: string; readonly hasShell: boolean }
  | { readonly is: "done" }
  /** A file could not be written, read or removed, for this reason. */
  | { readonly is: "failed"; readonly why: string }
  /** Some files; `last` if there are no more. */
  | { readonly is: "files"; readonly files: readonly SandboxFile[]; readonly last: boolean }
  /** A piece of a file; empty at its end. */
  | { readonly is: "piece"; readonly bytes: Uint8Array }
  | { readonly is: "packages"; readonly names: readonly string[] }
  /** Text printed by code. */
  | { readonly is: "log"; readonly text: string }
  /** A piece of a PNG; `last` if it is complete. */
  | { readonly is: "image"; readonly bytes: Uint8Array; readonly last: boolean }
  | { readonly is: "ran"; readonly traceback: string | null }
  | { readonly is: "stdout"; readonly text: string }
  | { readonly is: "stderr"; readonly text: string }
  /** A command has ended; null if it took too long. */
  | { readonly is: "exited"; readonly code: number | null };

const PATH_BYTES_MAX = 1024;
const VERSION_CHARACTERS_MAX = 100;
const NAME_CHARACTERS_MAX = 100;
const WHY_CHARACTERS_MAX = 300;
const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Throws `BadFrame` for an invalid reply. */
export function readHarnessReply({ head, data }: SandboxFrame): HarnessReply {
  switch (head["is"]) {
    case "ready":
      return { is: "ready", python: text(head["python"], NAME_CHARACTERS_MAX), hasShell: head["hasShell"] === true };
    case "done":
      return { is: "done" };
    case "failed":
      return { is: "failed", why: text(head["why"], WHY_CHARACTERS_MAX) };
    case "files":
      return { is: "files", files: list(head["files"]).map(readFile), last: head["last"] === true };
    case "packages":
      return { is: "packages", names: list(head["names"]).map((name) => text(name, NAME_CHARACTERS_MAX)) };
    case "piece":
      return { is: "piece", bytes: data };
    case "image":
      return { is: "image", bytes: data, last: head["last"] === true };
    case "log":
    case "stdout":
    case "stderr":
      return { is: head["is"], text: Buffer.from(data).toString("utf8") };
    case "ran":
      return { is: "ran", traceback: head["traceback"] === null ? null : text(head["traceback"], Number.MAX_VALUE) };
    case "exited":
      return { is: "exited", code: head["code"] === null ? null : whole(head["code"]) };
    default:
      throw new BadFrame("a reply of no known kind");
  }
}

/** Whether a path is below a folder: no empty part, no part of only dots, no control characters. */
export function isPathBelow(path: string): boolean {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX || !path.isWellFormed()) return false;
  if ([...path].some((character) => character < " " || character === "\u007f")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

export function isPng(bytes: Uint8Array): bytes is SandboxImage["png"] {
  return PNG_START.equals(bytes.subarray(0, PNG_START.length));
}

function readFile(entry: unknown): SandboxFile {
  const [path, bytes, version] = list(entry);
  if (typeof path !== "string" || !isPathBelow(path)) throw new BadFrame("a path that is not below /mnt/data");
  return { path, bytes: whole(bytes), version: text(version, VERSION_CHARACTERS_MAX) };
}

function text(value: unknown, charactersMax: number): string {
  if (typeof value !== "string" || value.length > charactersMax) throw new BadFrame("no text of a usual length");
  return value.toWellFormed();
}

function whole(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new BadFrame("no whole number");
  return value;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadFrame("no list");
  return value;
}
