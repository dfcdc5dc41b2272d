import { assert } from "@antiphon/base/assert.ts";
import { startPiped } from "@antiphon/programs/piped-child.ts";
import { encodeFrame, FrameDecoder, type SandboxFrame } from "../../harness/frames.ts";
import type { LinkEnd, LinkedChild } from "../../harness/sandbox-channel.ts";
import { SandboxLink } from "../../harness/sandbox-link.ts";
import { SandboxFailed, type SandboxLimits } from "../../ports/sandbox-engine.ts";
import { openFilterFile } from "../bubblewrap/filter-file.ts";
import { watchSandbox } from "../sandbox-watch.ts";
import { type ChildFiles, type Confinement, childCommand, PYODIDE_FOLDER } from "./child-command.ts";
import { SNAPSHOT_BYTES_MAX } from "./snapshot.ts";

const START_MS_MAX = 60_000;
const COMPLAINT_CHARACTERS_MAX = 300;
/** The shell, its guard and its reader, both processes of `bwrap`, and Node, which cannot start others. */
const PROCESSES = 6;

export interface StarterOptions {
  /** What `notebookSource` gives. */
  readonly notebook: string;
  /** Ends with a slash; null for none. */
  readonly wheels: string | null;
  readonly confinement: Confinement;
}

/** Starts a sandbox, from this snapshot if it is not null. Rejects with `SandboxFailed`, or the signal's reason. */
export async function startPyodide(
  options: StarterOptions,
  snapshot: string | null,
  limits: SandboxLimits,
  signal: AbortSignal,
): Promise<SandboxLink> {
  const children: StartedChild[] = [];
  const start = async (end: LinkEnd): Promise<LinkedChild> => {
    const child = await startChild(options, { snapshot, wheels: options.wheels }, limits, end);
    children.push(child);
    return child;
  };
  const opening = openingOf(options, snapshot === null ? null : { file: snapshot }, limits);
  const link = await SandboxLink.open({ start, opening, timeoutMs: START_MS_MAX }, signal).catch((error: unknown) => {
    const why = children[0]?.complaint() ?? "";
    throw error instanceof SandboxFailed && why !== "" ? new SandboxFailed(why, { cause: error }) : error;
  });
  const [child] = children;
  assert(child !== undefined, "a sandbox that is open has a child");
  const over = new AbortController();
  void link.exit.then(() => over.abort());
  const target = { root: child.group, limits: { ...limits, processesMax: 1 }, ownProcesses: PROCESSES, folders: [] };
  void watchSandbox(target, (reason) => link.stop(reason), over.signal);
  return link;
}

/** Lets a child create a snapshot; it has run no foreign code. Rejects like `startPyodide`. */
export async function makeSnapshot(
  options: StarterOptions,
  limits: SandboxLimits,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  signal.throwIfAborted();
  const reader = new SnapshotReader();
  const child = await startChild(options, { snapshot: null, wheels: options.wheels }, limits, reader);
  const { head, data } = openingOf(options, "make", limits);
  child.write(encodeFrame(head, data)).catch(() => {}); // The end of the child is reported separately.
  const kill = (): void => child.kill();
  const timer = setTimeout(kill, START_MS_MAX);
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  await child.exit;
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  return reader.pieces();
}

function openingOf(
  { notebook, wheels }: StarterOptions,
  snapshot: "make" | { readonly file: string } | null,
  { diskBytes }: SandboxLimits,
): SandboxFrame {
  const head = { pyodide: PYODIDE_FOLDER, snapshot, notebook, wheels, filesBytesMax: diskBytes };
  return { head, data: new Uint8Array() };
}

interface StartedChild extends LinkedChild {
  readonly group: number;
  /** The end of its stderr. */
  complaint(): string;
}

/** Starts a child that never outlives this process. Rejects with `ProgramFailed`. */
async function startChild(
  { confinement }: StarterOptions,
  files: ChildFiles,
  limits: SandboxLimits,
  { onOutput, onEnd }: LinkEnd,
): Promise<StartedChild> {
  let complaint = "";
  const exit = Promise.withResolvers<void>();
  const filter = confinement === "bubblewrap" ? await openFilterFile() : null;
  try {
    const child = await startPiped({
      ...childCommand(files, limits, { confinement, hasFilter: filter !== null }),
      folder: "/",
      environment: {},
      ...(filter === null ? {} : { file: filter.fd }),
      onOutput,
      onComplaint: (bytes) => {
        complaint = (complaint + bytes.toString("utf8")).slice(0, COMPLAINT_CHARACTERS_MAX);
      },
      onEnd: () => {
        exit.resolve();
        onEnd();
      },
    });
    return {
      group: child.group,
      write: (bytes) => child.write(bytes),
      kill: () => child.kill(),
      exit: exit.promise,
      complaint: () => complaint.trim(),
    };
  } finally {
    await filter?.close();
  }
}

/** Receives the output of a child that creates a snapshot. */
class SnapshotReader implements LinkEnd {
  readonly #decoder = new FrameDecoder();
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  #isWhole = false;

  readonly onOutput = (bytes: Uint8Array): void => {
    this.#bytes += bytes.length;
    if (this.#bytes > SNAPSHOT_BYTES_MAX) return;
    for (const { head, data } of this.#decoder.push(bytes)) {
      if (head["is"] === "piece") this.#pieces.push(Uint8Array.from(data));
      if (head["is"] === "done") this.#isWhole = true;
    }
  };
  readonly onEnd = (): void => {};

  pieces(): readonly Uint8Array[] {
    if (!this.#isWhole) throw new SandboxFailed("No snapshot of Pyodide could be made.");
    return this.#pieces;
  }
}
