import type { ProgressOutput } from "../speech-progress.ts";
import type { StepProgress } from "./keep-in-step.ts";

const BAR_WIDTH = 24;
const CLEAR_LINE = "\r\u001B[2K";
const STAGES = { uploading: "Uploading", indexing: "Indexing " } as const;

/** Shows progress on one line of a terminal, and nothing elsewhere. */
export class AddProgress {
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
export function addProgressLine({ stage, done, total }: StepProgress): string {
  const share = total === 0 ? 1 : done / total;
  const fill = Math.floor(share * BAR_WIDTH);
  const bar = `${"#".repeat(fill)}${"-".repeat(BAR_WIDTH - fill)}`;
  return `${STAGES[stage]}  [${bar}]  ${String(Math.floor(share * 100)).padStart(3)} %  ${done} of ${total} files`;
}
