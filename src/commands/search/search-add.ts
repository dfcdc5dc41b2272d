import { stat, watch } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../../config/load-config.ts";
import { MisusedCommand, readCommandArguments } from "../misused-command.ts";
import { findServer } from "../runs-client.ts";
import { RunsMisused } from "../runs-misused.ts";
import { type ProgressOutput, progressBar } from "../speech-progress.ts";
import { TooManyFiles } from "./folder-files.ts";
import { keepInStep, type StepParts, type StepProgress, type StepResult } from "./keep-in-step.ts";
import { StoreCallFailed, StoreCalls } from "./store-calls.ts";

export const SEARCH_ADD_USAGE = `Usage: antiphon search add FOLDER [--store NAME|ID] [--watch]

Puts the files of FOLDER and of the folders below it into a vector store, and brings the store in step if it was filled before: new and changed files are uploaded, files that are gone are deleted. Hidden files, links, empty files and node_modules are left out. The id of the store is printed for file_search.
--store names the store; without it, it is named like the folder. A store that does not exist is created. --watch goes on until it is interrupted, and follows each change.

Requests go to the server at --url URL or ANTIPHON_URL (http://127.0.0.1:8080) with the key in ANTIPHON_API_KEY or in --key-file FILE, as those of antiphon runs do.
Exit codes: 0, 1 if the server could not read some files, or 2 if it refuses or cannot be reached.`;

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  store: { type: "string" },
  watch: { type: "boolean" },
  url: { type: "string" },
  "key-file": { type: "string" },
} as const;

const DONE = 0;
const SOME_UNREAD = 1;
const REFUSED = 2;
/** A file is often written in several steps, so changes are followed a moment later. */
const SETTLE_MS = 500;
/** The maximum files named in a note. */
const NAMED_MAX = 20;
const CLEAR_LINE = "\r\u001B[2K";
const STAGES = { uploading: "Uploading", indexing: "Indexing " } as const;

export interface SearchAddOutputs {
  readonly print: (text: string) => void;
  readonly progress: ProgressOutput;
}

/** Runs `search add …` and returns its exit code. `signal` ends it. Throws `MisusedCommand`. */
export async function runSearchAdd(
  argv: readonly string[],
  environment: Environment,
  { print, progress: output }: SearchAddOutputs,
  signal: AbortSignal,
): Promise<number> {
  const misuse = (problem: string): Error => new MisusedCommand(problem, SEARCH_ADD_USAGE);
  const { values, positionals } = readCommandArguments(argv, OPTIONS, misuse);
  const [given, ...others] = positionals;
  if (values.help === true) {
    print(SEARCH_ADD_USAGE);
    return DONE;
  }
  if (given === undefined || others.length > 0) throw misuse("search add takes one folder.");
  const folder = resolve(given);
  const facts = await stat(folder).catch(() => null);
  if (facts?.isDirectory() !== true) throw misuse(`${given} is not a folder.`);
  const progress = new AddProgress(output);
  try {
    const calls = new StoreCalls(await findServer(values, environment), signal);
    const storeId = await requireStore(calls, values.store ?? basename(folder));
    print(storeId);
    const parts: StepParts = { calls, storeId, folder, showProgress: (step) => progress.show(step), signal };
    return values.watch === true ? await follow(parts, progress) : exitCodeOf(await runStep(parts, progress));
  } catch (error) {
    if (signal.aborted) return DONE;
    if (!(error instanceof StoreCallFailed || error instanceof RunsMisused || error instanceof TooManyFiles))
      throw error;
    progress.note(`${error.message}${adviceOn(error)}`);
    return REFUSED;
  }
}

async function requireStore(calls: StoreCalls, wanted: string): Promise<string> {
  const storeId = await calls.findStore(wanted);
  if (storeId === null && wanted.startsWith("vs_"))
    throw new StoreCallFailed(`There is no vector store ${wanted}.`, 404);
  return storeId ?? (await calls.createStore(wanted));
}

async function runStep(parts: StepParts, progress: AddProgress): Promise<StepResult> {
  const result = await keepInStep(parts);
  const { added, changed, deleted, unchanged, unread } = result;
  progress.note(`${added} added, ${changed} changed, ${deleted} deleted, ${unchanged} unchanged`);
  for (const { path, why } of unread.slice(0, NAMED_MAX)) progress.note(`Not searchable: ${path}: ${why}`);
  if (unread.length > NAMED_MAX) progress.note(`Not searchable: ${unread.length - NAMED_MAX} more files`);
  return result;
}

function exitCodeOf({ unread }: StepResult): number {
  return unread.length === 0 ? DONE : SOME_UNREAD;
}

/**
 * Brings the store in step after each change, until the signal aborts. Changes during a step are followed by another.
 */
async function follow(parts: StepParts, progress: AddProgress): Promise<number> {
  const changes = watch(parts.folder, { recursive: true, signal: parts.signal })[Symbol.asyncIterator]();
  const nextChange = (): Promise<unknown> => {
    const change = changes.next();
    change.catch(() => {}); // It rejects when the command ends, also during a step.
    return change;
  };
  let next = nextChange(); // Before the first step, so that no change is missed.
  for (;;) {
    await runStep(parts, progress);
    await next;
    for (let isQuiet = false; !isQuiet; ) {
      next = nextChange();
      isQuiet = await Promise.race([next.then(() => false), sleep(SETTLE_MS, true, { signal: parts.signal })]);
    }
  }
}

function adviceOn(error: Error): string {
  if (!(error instanceof StoreCallFailed)) return "";
  if (error.status === null) return " Is the server running? --url or ANTIPHON_URL select another server.";
  return error.status === 401 ? " ANTIPHON_API_KEY or --key-file FILE select a key." : "";
}

/** Shows progress on one line of a terminal, and nothing elsewhere. */
class AddProgress {
  readonly #output: ProgressOutput;

  constructor(output: ProgressOutput) {
    this.#output = output;
  }

  show(progress: StepProgress): void {
    if (this.#output.isTTY === true) this.#output.write(`${CLEAR_LINE}${addProgressLine(progress)}`);
  }

  /** Writes a line that stays, in place of the progress. */
  note(text: string): void {
    this.#output.write(`${this.#output.isTTY === true ? CLEAR_LINE : ""}${text}\n`);
  }
}

/** For example `Indexing   [########----------------]   33 %  12 of 36 files`. */
function addProgressLine({ stage, done, total }: StepProgress): string {
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
  return `${STAGES[stage]}  ${progressBar(percent)}  ${done} of ${total} files`;
}
