import { newId } from "@antiphon/base/ids.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { BatchOutputLine } from "@antiphon/contracts/responses-api/types.ts";
import type {
  HeldLine,
  LastingRuns,
  LineOutcome,
  LineQueue,
  LineRun,
  LineUsage,
} from "@antiphon/domain/batches/batch-work.ts";
import type { LineAnswer } from "./ports.ts";

/** The responses of a line, which are named in the store. */
export class LineRuns implements LastingRuns {
  readonly #lines: Pick<LineQueue, "nameRun">;
  readonly #line: HeldLine;
  readonly #runs: Map<number, LineRun>;
  readonly #here: Set<string>;
  #isRefused = false;

  private constructor(lines: Pick<LineQueue, "nameRun">, line: HeldLine, runs: readonly LineRun[], here: Set<string>) {
    this.#lines = lines;
    this.#line = line;
    this.#runs = new Map(runs.map((run) => [run.choice, run]));
    this.#here = here;
    for (const { responseId } of runs) here.add(responseId);
  }

  /** With the responses that earlier processes have named. `here`: gets the ids of all, until they are left. */
  static async open(lines: LineQueue, line: HeldLine, here: Set<string>): Promise<LineRuns> {
    return new LineRuns(lines, line, await lines.runsOf(line), here);
  }

  /** This process waits for them no longer. */
  leave(): void {
    for (const { responseId } of this.#runs.values()) this.#here.delete(responseId);
  }

  find(choice: number): string | null {
    return this.#runs.get(choice)?.responseId ?? null;
  }

  async name(choice: number, responseId: string, isKept: boolean): Promise<void> {
    const run = { choice, responseId, isKept };
    await this.#lines.nameRun(this.#line, run);
    const { responseId: earlierId = responseId } = this.#runs.get(choice) ?? {};
    this.#here.delete(earlierId);
    this.#here.add(responseId);
    this.#runs.set(choice, run);
  }

  refuse(): void {
    this.#isRefused = true;
  }

  /** Whether a new attempt makes something that this one did not. */
  get mayRepeat(): boolean {
    return this.#runs.size === 0 || this.#isRefused;
  }

  /** Those that are removed once the line is settled. */
  unkept(): readonly string[] {
    return [...this.#runs.values()].filter(({ isKept }) => !isKept).map(({ responseId }) => responseId);
  }
}

/** The line of the output file or error file. */
export function lineOutcomeOf({ customId }: HeldLine, { status, requestId, body, isGood }: LineAnswer): LineOutcome {
  const line: BatchOutputLine = {
    id: newId("batch_req", Math.floor(Date.now() / 1000)),
    custom_id: customId,
    response: { status_code: status, request_id: requestId, body: { ...body } },
    error: null,
  };
  return { state: isGood ? "done" : "failed", result: JSON.stringify(line), usage: usageIn(body) };
}

/** The tokens that a body of any endpoint tells of; 0 for what it does not. */
function usageIn(body: object): LineUsage {
  const usage = recordIn(body, "usage");
  const inputDetails = { ...recordIn(usage, "input_tokens_details"), ...recordIn(usage, "prompt_tokens_details") };
  const outputDetails = {
    ...recordIn(usage, "output_tokens_details"),
    ...recordIn(usage, "completion_tokens_details"),
  };
  const cachedTokens = countIn(inputDetails, "cached_tokens") + countIn(usage, "cache_read_input_tokens");
  return {
    // Messages count cached tokens apart from the others.
    inputTokens:
      countIn(usage, "input_tokens") +
      countIn(usage, "prompt_tokens") +
      countIn(usage, "cache_read_input_tokens") +
      countIn(usage, "cache_creation_input_tokens"),
    cachedTokens,
    outputTokens: countIn(usage, "output_tokens") + countIn(usage, "completion_tokens"),
    reasoningTokens: countIn(outputDetails, "reasoning_tokens"),
  };
}

function recordIn(value: object, name: string): Readonly<Record<string, unknown>> {
  const member: unknown = isRecord(value) ? value[name] : null;
  return isRecord(member) ? member : {};
}

function countIn(record: Readonly<Record<string, unknown>>, name: string): number {
  const value = record[name];
  return typeof value === "number" ? value : 0;
}
