import type { CodeAbilities, CommandRun, SessionEnd } from "@antiphon/domain/containers.ts";

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
