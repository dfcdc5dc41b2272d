import type { CodeAbilities, CommandRun, KeptFile, SessionEnd } from "../domain/containers.ts";
import type { Owner } from "../runs/ports/owner.ts";

/** Starts sandboxes. What runs in them reaches neither this machine's files nor any network. */
export interface SandboxEngine {
  readonly abilities: CodeAbilities;
  /** Starts one with an empty `/mnt/data`. Rejects with `SandboxFailed`, or the signal's reason. */
  start(limits: SandboxLimits, signal: AbortSignal): Promise<Sandbox>;
  close(): Promise<void>;
}

/** Whether an engine works on this machine. */
export type EngineProbe =
  | { readonly type: "works"; readonly engine: SandboxEngine }
  /** A sentence. */
  | { readonly type: "fails"; readonly why: string };

export interface SandboxLimits {
  /** Of all its processes together. */
  readonly memoryBytes: number;
  /** Of all files in `/mnt/data` together. */
  readonly diskBytes: number;
  readonly processesMax: number;
}

/** The limits of one call. */
export interface SandboxCallLimits {
  readonly timeoutMs: number;
  /** What is printed beyond that is left out from the middle. */
  readonly logCharactersMax: number;
  readonly imagesMax: number;
  readonly imageBytesMax: number;
}

/** A sandbox could not be started, or has ended. */
export class SandboxFailed extends Error {
  override readonly name = "SandboxFailed";
}

/** A sandbox lives but cannot take or give a file, such as because its disk is full or a folder is in its place. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

/**
 * A running sandbox with one Python session. It takes one call at a time. Whatever it says is untrusted, because the
 * code in it can speak in its name. It never outlives this process.
 */
export interface Sandbox {
  /** Resolves when it has ended, for whatever reason, and nothing of it is left. Never rejects. */
  readonly ended: Promise<SessionEnd | "killed">;
  /**
   * Writes a file; `path` is relative to `/mnt/data` and has no `..`. This and what else concerns files rejects with
   * `SandboxFailed` if the sandbox has ended, or with `FileRefused`.
   */
  writeFile(path: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** Does nothing if there is no such file. */
  removeFile(path: string, signal: AbortSignal): Promise<void>;
  /** The regular files below `/mnt/data`, by path; symbolic links and special files are left out. At most `most`. */
  listFiles(most: number, signal: AbortSignal): Promise<readonly SandboxFile[]>;
  /** In pieces. Throws `FileRefused` if there is no such regular file. */
  readFile(path: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Runs code. If the signal aborts, kills the sandbox and rejects with the signal's reason. Rejects with
   * `SandboxFailed` if the sandbox had ended before.
   */
  runCode(code: string, limits: SandboxCallLimits, signal: AbortSignal): Promise<SandboxRun>;
  /** Runs `/bin/sh -c command` in `/mnt/data`; only where `hasShell`. Its processes end with it. */
  runCommand(command: string, limits: SandboxCallLimits, signal: AbortSignal): Promise<SandboxCommand>;
  /** Ends all its processes at once. Resolves when nothing of it is left. */
  kill(): Promise<void>;
}

export interface SandboxFile {
  readonly path: string;
  readonly bytes: number;
  /** Changes whenever the contents may have changed, such as the time of the last change. */
  readonly version: string;
}

export interface SandboxRun {
  /** Logs and PNG pictures in the order of their appearance. */
  readonly outputs: readonly ({ readonly type: "logs"; readonly logs: string } | SandboxImage)[];
  readonly traceback: string | null;
  /** Null if the sandbox lives. */
  readonly end: SessionEnd | null;
}

export interface SandboxImage {
  readonly type: "image";
  readonly png: Uint8Array;
}

export interface SandboxCommand {
  readonly run: CommandRun;
  readonly end: SessionEnd | null;
}

/**
 * The stored containers, as sessions need them. A stored file never changes: new contents at the same path are a new
 * file with a new id, which takes the place of the old one.
 */
export interface StoredContainers {
  /** Null if the container is gone or expired, or belongs to another owner. Does not count as use. */
  find(owner: Owner, containerId: string): Promise<UsedContainer | null>;
  /** Says that a call of this session begins. Resolves to what the container was before, or null as `find` does. */
  begin(owner: Owner, containerId: string, sessionId: string): Promise<UsedContainer | null>;
  /** Says that the container is used now. False if it is gone. */
  touch(owner: Owner, containerId: string): Promise<boolean>;
  /** The contents; null if the file is gone. */
  read(owner: Owner, containerId: string, fileId: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Stores a file that code has made. Resolves once it is durable. If `content` fails, no part of it stays. */
  keep(owner: Owner, containerId: string, file: MadeFile, signal: AbortSignal): Promise<Keeping>;
  /** Does nothing if there is no such file. */
  remove(owner: Owner, containerId: string, fileId: string): Promise<void>;
}

export interface UsedContainer {
  readonly files: readonly KeptFile[];
  /** The session whose call was the last to begin; null if there was none. */
  readonly sessionId: string | null;
}

/** A file that code has made. */
export interface MadeFile {
  /** Absolute, such as `/mnt/data/chart.png`; null for `/mnt/data/<id>.png`. */
  readonly path: string | null;
  readonly content: AsyncIterable<Uint8Array>;
  /** `content` may end early by rejecting, but never yields more than this. */
  readonly bytesMax: number;
}

export type Keeping =
  | { readonly type: "kept"; readonly file: KeptFile }
  /** The container, or what its owner may store, would have too many bytes or files with it. */
  | { readonly type: "full"; readonly of: "container" | "owner" }
  /** The path is not one that a file of a container can have. */
  | { readonly type: "bad_path" }
  | { readonly type: "gone" };

/** Why a session ended that its code did not end. */
export type SessionKill =
  | SessionEnd
  /** The response that waited for it ended. */
  | "cancelled"
  /** It was idle, and its place was needed. */
  | "displaced"
  /** Another process has run code in its container since. */
  | "outdated"
  /** Its container expired or was deleted. */
  | "gone"
  /** The server stops. */
  | "closed";

/** Told of sessions. */
export interface SessionObserver {
  /** How many there are in this engine, with those that start and those that are being ended. */
  counted(sessions: number, engine: CodeAbilities["engine"]): void;
  ended(reason: SessionKill): void;
}
