import { Slices } from "@antiphon/base/limits/slices.ts";
import type { BatchError } from "@antiphon/contracts/responses-api/types.ts";
import type { HeldBatch, InputLine } from "@antiphon/domain/batches/batch-work.ts";
import { BATCH_LINES_MAX } from "@antiphon/domain/batches/batches.ts";
import { checkLine } from "./check-line.ts";
import { inputLines, LineTooLong } from "./input-lines.ts";
import type { BatchParts } from "./ports.ts";

/** How many faults of a file are told. */
const FAULTS_MAX = 100;
/** Lines are stored together up to these limits. */
const STORED_LINES_MAX = 100;
const STORED_CHARACTERS_MAX = 1024 * 1024;

type CheckParts = Pick<BatchParts, "store" | "files" | "lineBytesMax">;

/** Stores the lines of a batch's file, and begins it. Ends it as failed if its file has faults. */
export async function checkBatch(parts: CheckParts, batch: HeldBatch, signal: AbortSignal): Promise<void> {
  const { queue } = parts.store;
  while (await queue.removeLines(batch)) signal.throwIfAborted(); // Of an attempt that broke off.
  const file = await parts.files.streamFile(batch.owner, batch.inputFileId);
  if (file === null) return await queue.fail(batch, [wholeFileFault("file_not_found", "The file is gone.")]);
  const checking = new Checking(parts, batch);
  const faults = await checking.read(file.content, signal);
  if (faults === null) return await queue.releaseWork(batch, 0); // It was cancelled.
  if (faults.length > 0) return await queue.fail(batch, faults);
  await queue.begin(batch, checking.total, checking.model);
}

function wholeFileFault(code: string, message: string): BatchError {
  return { code, line: null, message, param: null };
}

class Checking {
  readonly #parts: CheckParts;
  readonly #batch: HeldBatch;
  readonly #customIds = new Set<string>();
  readonly #models = new Set<string | null>();
  readonly #faults: BatchError[] = [];
  #lines: InputLine[] = [];
  #characters = 0;

  constructor(parts: CheckParts, batch: HeldBatch) {
    this.#parts = parts;
    this.#batch = batch;
  }

  get total(): number {
    return this.#customIds.size;
  }

  /** The model that all lines name; null if there is none. */
  get model(): string | null {
    return this.#models.size === 1 ? ([...this.#models][0] ?? null) : null;
  }

  /** Reads all lines, and stores them as long as none has a fault. Null if the batch was cancelled. */
  async read(content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<readonly BatchError[] | null> {
    const slices = new Slices();
    const { lineBytesMax } = this.#parts;
    try {
      for await (const text of inputLines(content, lineBytesMax)) {
        signal.throwIfAborted();
        await slices.pause();
        const result = checkLine(text, this.#batch.endpoint, this.#customIds);
        if (result.type === "fault") this.#faults.push(result.fault);
        else {
          this.#models.add(result.model);
          this.#lines.push(result.line);
          this.#characters += result.line.body.length;
        }
        if (this.#customIds.size > BATCH_LINES_MAX)
          this.#faults.push(wholeFileFault("too_many_lines", `A batch may have at most ${BATCH_LINES_MAX} lines.`));
        if (this.#faults.length >= FAULTS_MAX || this.#customIds.size > BATCH_LINES_MAX) return this.#faults;
        if (this.#isFull() && !(await this.#store())) return null;
      }
    } catch (error) {
      if (error instanceof LineTooLong) {
        const message = `This line has more than ${lineBytesMax} bytes.`;
        return [...this.#faults, { code: "line_too_long", line: error.line, message, param: null }];
      }
      if (!(error instanceof TypeError && "code" in error)) throw error; // Of the decoder.
      return [...this.#faults, wholeFileFault("invalid_encoding", "The file is no text in UTF-8.")];
    }
    if (this.#faults.length === 0 && this.total === 0) return [wholeFileFault("empty_file", "The file has no lines.")];
    return this.#faults.length > 0 || (await this.#store()) ? this.#faults : null;
  }

  #isFull(): boolean {
    return this.#lines.length >= STORED_LINES_MAX || this.#characters >= STORED_CHARACTERS_MAX;
  }

  async #store(): Promise<boolean> {
    const lines = this.#lines;
    [this.#lines, this.#characters] = [[], 0];
    if (lines.length === 0 || this.#faults.length > 0) return true;
    return await this.#parts.store.queue.addLines(this.#batch, lines);
  }
}
