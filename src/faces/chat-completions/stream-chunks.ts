import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { BegunResponse } from "../../responses-api/create/begin-response.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { responseFailure } from "../response-failure.ts";
import { type ChunkOptions, ChunkWriter, DONE_FRAME } from "./chunks.ts";

/** Writes the events of one run as the chunks of one choice. */
export interface ChoiceWriter {
  /** The final snapshot; null while the run goes on. */
  readonly ended: Response | null;
  /** Gives all chunks the members of this response. */
  begin(response: Response): void;
  framesOf(event: RecordedEvent): string;
  /** The chunk without choices that follows the last one. */
  usageFrame(responses: readonly Response[]): string;
}

type Runs = readonly Pick<BegunResponse, "events" | "response">[];

/** The chunks of all runs, each run a choice. */
export function chunksOf(runs: Runs, options: ChunkOptions): AsyncGenerator<string, void> {
  const writers = runs.map((_, index) => new ChunkWriter(index, options));
  return choicesOf(runs, writers, options.includeUsage);
}

/**
 * The chunks of all runs by these writers, one for each. Throws the `ApiError` of a run that failed. Leaving the
 * iteration leaves the runs.
 */
export async function* choicesOf(
  runs: Runs,
  writers: readonly ChoiceWriter[],
  includeUsage: boolean,
): AsyncGenerator<string, void> {
  const [first] = runs;
  if (first !== undefined) for (const writer of writers) writer.begin(first.response);
  if (first !== undefined && runs.length === 1) {
    for await (const batch of first.events) {
      const text = framesOf(writers[0], batch);
      if (text !== "") yield text;
    }
  } else {
    yield* mergedFrames(runs, writers);
  }
  const responses = writers.map(endOf);
  const last = writers[0];
  yield `${includeUsage && last !== undefined ? last.usageFrame(responses) : ""}${DONE_FRAME}`;
}

function framesOf(writer: ChoiceWriter | undefined, batch: readonly RecordedEvent[]): string {
  let frames = "";
  for (const event of batch) frames += writer?.framesOf(event) ?? "";
  return frames;
}

/** The frames of several runs as they come. */
async function* mergedFrames(
  runs: readonly Pick<BegunResponse, "events">[],
  writers: readonly ChoiceWriter[],
): AsyncGenerator<string, void> {
  const next = async (index: number) => ({ index, step: await runs[index]?.events.next() });
  const waiting = new Map(runs.map((_, index) => [index, next(index)]));
  try {
    while (waiting.size > 0) {
      const { index, step } = await Promise.race(waiting.values());
      if (step === undefined || step.done === true) {
        waiting.delete(index);
        continue;
      }
      waiting.set(index, next(index));
      const text = framesOf(writers[index], step.value);
      if (text !== "") yield text;
    }
  } finally {
    await Promise.all(runs.map(({ events }) => events.return()));
  }
}

function endOf({ ended }: ChoiceWriter): Response {
  if (ended === null) throw new TypeError("the events of a run end with its last one");
  if (ended.status === "failed" || ended.status === "cancelled") throw responseFailure(ended);
  return ended;
}
