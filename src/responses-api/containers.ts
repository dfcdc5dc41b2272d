import type { Owner } from "../runs/ports.ts";

/** What can be run in containers here. */
export interface CodeAbilities {
  readonly engine: "pyodide" | "bubblewrap" | "docker";
  /** Such as `3.14`. */
  readonly python: string;
  /** Packages beyond the standard library that can be imported. */
  readonly packages: readonly string[];
  /** Whether commands can be run too. */
  readonly hasShell: boolean;
}

/** A regular file below `/mnt/data` that is stored with its container. */
export interface KeptFile {
  /** Such as `cfile_…`. */
  readonly id: string;
  /** Absolute, such as `/mnt/data/chart.png`. */
  readonly path: string;
  readonly bytes: number;
}

/** What the model is told of a container's files after a call. */
export interface FileChanges {
  /** New files, and files with new contents. They are stored. */
  readonly changed: readonly KeptFile[];
  /** Whole sentences about files that could not be kept, such as one that is too large. */
  readonly faults: readonly string[];
}

/** Why a session ended during a call. Its variables are lost; files that were stored before stay. */
export type SessionEnd = "timed_out" | "out_of_memory" | "too_many_processes" | "too_much_output" | "crashed";

/** What code has shown, in order. */
export type CodeOutput =
  | { readonly type: "logs"; readonly logs: string }
  /** A PNG, which is stored as a file too. */
  | { readonly type: "image"; readonly png: Uint8Array; readonly file: KeptFile };

/** How a run of code came out. */
export interface CodeRun extends FileChanges {
  readonly outputs: readonly CodeOutput[];
  /** The traceback of an uncaught exception; null if there was none. */
  readonly traceback: string | null;
  /** Null if the session lives. */
  readonly end: SessionEnd | null;
  /** Whether variables and running programs of earlier calls were lost before this call. */
  readonly lostVariables: boolean;
}

export interface CommandList {
  readonly commands: readonly string[];
  /** For each command; null for that of the server, which is the most. */
  readonly timeoutMs: number | null;
  /** Characters of both outputs together, for each command; null for those of the server. */
  readonly outputCharactersMax: number | null;
}

export interface CommandRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: "exit"; readonly exitCode: number } | { readonly type: "timeout" };
}

export interface CommandRuns extends FileChanges {
  /** One for each command that ran. */
  readonly runs: readonly CommandRun[];
  readonly end: SessionEnd | null;
  readonly lostVariables: boolean;
}

export type Ran<Result> =
  | { readonly type: "ran"; readonly result: Result }
  /** The container is gone or expired. */
  | { readonly type: "gone" }
  /** All sessions are at work, and none became free in time. */
  | { readonly type: "busy" };

/**
 * Runs code and commands in containers. Calls in one container run one after the other. State is kept between them for
 * as long as its session lives. Rejects with the signal's reason if that aborts; the session is then killed.
 */
export interface ContainerSessions {
  readonly abilities: CodeAbilities;
  /** Runs Python as a notebook would: the value of the last expression is shown. */
  runCode(owner: Owner, containerId: string, code: string, signal: AbortSignal): Promise<Ran<CodeRun>>;
  /** Runs shell commands one after the other in `/mnt/data`, until one ends the session. */
  runCommands(owner: Owner, containerId: string, list: CommandList, signal: AbortSignal): Promise<Ran<CommandRuns>>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

/** Where code runs on this server, or why it does not: a whole sentence that says what would help. */
export type CodeOffer =
  | { readonly sessions: ContainerSessions; readonly reason: null }
  | { readonly sessions: null; readonly reason: string };
