import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { BegunResponse } from "../../responses-api/create/begin-response.ts";
import { responseFailure } from "../response-failure.ts";
import { type ChunkOptions, ChunkWriter, DONE_FRAME } from "./chunks.ts";

/**
 * The chunks of all runs, each run a choice. Throws the `ApiError` of a run that failed. Leaving the iteration leaves
 * the runs.
 */
export async function* chunksOf(
  runs: readonly Pick<BegunResponse, "events" | "response">[],
  options: ChunkOptions,
): AsyncGenerator<string, void> {
  const [first] = runs;
  const writers = runs.map((_, index) => new ChunkWriter(index, options));
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
  yield `${options.includeUsage && last !== undefined ? last.usageFrame(responses) : ""}${DONE_FRAME}`;
}

type Batch = Parameters<ChunkWriter["framesOf"]>[0];

function framesOf(writer: ChunkWriter | undefined, batch: readonly Batch[]): string {
  let frames = "";
  for (const event of batch) frames += writer?.framesOf(event) ?? "";
  return frames;
}

/** The frames of several runs as they come. */
async function* mergedFrames(
  runs: readonly Pick<BegunResponse, "events">[],
  writers: readonly ChunkWriter[],
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

function endOf({ ended }: ChunkWriter): Response {
  if (ended === null) throw new TypeError("the events of a run end with its last one");
  if (ended.status === "failed" || ended.status === "cancelled") throw responseFailure(ended);
  return ended;
}
