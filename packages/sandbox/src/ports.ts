import type { CodeAbilities, CommandRun, KeptFile, SessionEnd } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";

/** Starts sandboxes. Code in them reaches neither this machine's files nor any network. */
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
  /** For all its processes together. */
  readonly memoryBytes: number;
  /** For all files in `/mnt/data` together. */
  readonly diskBytes: number;
  readonly processesMax: number;
}

/** The limits of one call. */
export interface SandboxCallLimits {
  readonly timeoutMs: number;
  /** Longer output is cut in the middle. */
  readonly logCharactersMax: number;
  readonly imagesMax: number;
  readonly imageBytesMax: number;
}

/** A sandbox could not be started, or has ended. */
export class SandboxFailed extends Error {
  override readonly name = "SandboxFailed";
}

/** A sandbox lives but cannot read or write a file, for example because its disk is full or a folder is in the way. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

/**
 * A running sandbox with one Python session. Runs one call at a time. Its output is untrusted, because the code in it
 * can speak in its name. It never outlives this process.
 */
export interface Sandbox {
  /** Resolves when it has ended completely, for any reason. Never rejects. */
  readonly exit: Promise<SessionEnd | "killed">;
  /**
   * Writes a file; `path` is relative to `/mnt/data` and has no `..`. This and the other file methods reject with
   * `SandboxFailed` if the sandbox has ended, or with `FileRefused`.
   */
  writeFile(path: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** Does nothing if there is no such file. */
  removeFile(path: string, signal: AbortSignal): Promise<void>;
  /** The regular files below `/mnt/data`, by path, at most `most`. Leaves out symbolic links and special files. */
  listFiles(most: number, signal: AbortSignal): Promise<readonly SandboxFile[]>;
  /** In pieces. Throws `FileRefused` if there is no such regular file. */
  readFile(path: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Runs code. If the signal aborts, kills the sandbox and rejects with the signal's reason. Rejects with
   * `SandboxFailed` if the sandbox had ended before.
   */
  runCode(code: string, limits: SandboxCallLimits, signal: AbortSignal): Promise<SandboxRun>;
  /** Runs `/bin/sh -c command` in `/mnt/data`; only if `hasShell`. Its processes end with it. */
  runCommand(command: string, limits: SandboxCallLimits, signal: AbortSignal): Promise<SandboxCommand>;
  /** Kills all its processes. Resolves when all have ended. */
  kill(): Promise<void>;
}

export interface SandboxFile {
  readonly path: string;
  readonly bytes: number;
  /** Changes whenever the contents may have changed, for example the modification time. */
  readonly version: string;
}

export interface SandboxRun {
  /** Logs and PNG pictures in order. */
  readonly outputs: readonly ({ readonly type: "logs"; readonly logs: string } | SandboxImage)[];
  readonly traceback: string | null;
  /** Null if the sandbox is alive. */
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
 * The stored containers, from the sessions' side. Stored files are immutable: new contents at a path are a new file
 * with a new id that replaces the old one.
 */
export interface StoredContainers {
  /** Null if the container is gone or expired, or belongs to another owner. Does not count as use. */
  find(owner: Owner, containerId: string): Promise<UsedContainer | null>;
  /**
   * Records that a call of this session begins. Resolves to the previous state of the container, or null like `find`.
   */
  begin(owner: Owner, containerId: string, sessionId: string): Promise<UsedContainer | null>;
  /** Records a use of the container. False if it is gone. */
  touch(owner: Owner, containerId: string): Promise<boolean>;
  /** The contents; null if the file is gone. */
  read(owner: Owner, containerId: string, fileId: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Stores a file created by code. Resolves once it is durable. If `content` fails, nothing is stored. */
  keep(owner: Owner, containerId: string, file: MadeFile, signal: AbortSignal): Promise<Keeping>;
  /** Does nothing if there is no such file. */
  remove(owner: Owner, containerId: string, fileId: string): Promise<void>;
}

export interface UsedContainer {
  readonly files: readonly KeptFile[];
  /** The session of the most recent call; null if there was none. */
  readonly sessionId: string | null;
}

/** A file created by code. */
export interface MadeFile {
  /** Absolute, such as `/mnt/data/chart.png`; null for `/mnt/data/<id>.png`. */
  readonly path: string | null;
  readonly content: AsyncIterable<Uint8Array>;
  /** `content` may end early by rejecting, but never yields more than this. */
  readonly bytesMax: number;
}

export type Keeping =
  | { readonly type: "kept"; readonly file: KeptFile }
  /** The container or its owner would exceed its limit of bytes or files. */
  | { readonly type: "full"; readonly of: "container" | "owner" }
  /** A container cannot have a file at this path. */
  | { readonly type: "bad_path" }
  | { readonly type: "gone" };

/** Why a session ended, if its code did not end it. */
export type SessionKill =
  | SessionEnd
  /** Its response ended. */
  | "cancelled"
  /** It was idle, and its place was needed. */
  | "displaced"
  /** Another process has run code in its container since. */
  | "outdated"
  /** Its container expired or was deleted. */
  | "gone"
  /** The server stops. */
  | "closed";

/** Observes sessions. */
export interface SessionObserver {
  /** The number of sessions in this engine, including those that are starting or ending. */
  countSessions(sessions: number, engine: CodeAbilities["engine"]): void;
  noteEnd(reason: SessionKill): void;
}
