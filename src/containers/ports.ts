import type { CodeAbilities, CommandRun, SessionEnd } from "../responses-api/containers.ts";

/** Starts sandboxes. What runs in them reaches neither this machine's files nor any network. */
export interface SandboxEngine {
  readonly abilities: CodeAbilities;
  /** Starts one with an empty `/mnt/data`. Rejects with `SandboxFailed`, or the signal's reason. */
  start(limits: SandboxLimits, signal: AbortSignal): Promise<Sandbox>;
  close(): Promise<void>;
}

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

/** A sandbox could not be started. */
export class SandboxFailed extends Error {
  override readonly name = "SandboxFailed";
}

/**
 * A running sandbox with one Python session. It takes one call at a time. Whatever it says is untrusted, because the
 * code in it can speak in its name. It never outlives this process.
 */
export interface Sandbox {
  /** Resolves when it has ended, for whatever reason, and nothing of it is left. Never rejects. */
  readonly ended: Promise<SessionEnd | "killed">;
  /** Writes a file; `path` is relative to `/mnt/data` and has no `..`. Rejects with `SandboxFailed` if it has ended. */
  writeFile(path: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** Does nothing if there is no such file. */
  removeFile(path: string, signal: AbortSignal): Promise<void>;
  /** The regular files below `/mnt/data`, by path; symbolic links and special files are left out. At most `most`. */
  listFiles(most: number, signal: AbortSignal): Promise<readonly SandboxFile[]>;
  readFile(path: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Runs code. If the signal aborts, kills the sandbox and rejects with the signal's reason. */
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
