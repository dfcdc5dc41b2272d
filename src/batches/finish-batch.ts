import { newId } from "@antiphon/base/ids.ts";
import type { BatchLineError, BatchOutputLine } from "@antiphon/contracts/responses-api/types.ts";
import type { BatchEnding, HeldBatch } from "@antiphon/domain/batches/batch-work.ts";
import type { BatchParts } from "./ports.ts";

type FinishParts = Pick<BatchParts, "store" | "files" | "door">;

/** Writes the files of a batch, and ends it. After a crash, files that were written are found. */
export async function finishBatch(
  parts: FinishParts,
  batch: HeldBatch,
  ending: BatchEnding,
  signal: AbortSignal,
): Promise<void> {
  const { queue } = parts.store;
  const { outputFileId, errorFileId } = await queue.nameFiles(batch);
  const outputWriting = { id: outputFileId, name: `${batch.id}_output.jsonl`, state: "done", ending } as const;
  const errorWriting = { id: errorFileId, name: `${batch.id}_error.jsonl`, state: "not done", ending } as const;
  const hasOutput = await writeFile(parts, batch, outputWriting, signal);
  const hasErrors = await writeFile(parts, batch, errorWriting, signal);
  await queue.end(batch, ending, {
    outputFileId: hasOutput ? outputFileId : null,
    errorFileId: hasErrors ? errorFileId : null,
  });
}

/** Removes what is stored of the lines of a batch that is over, and responses that were not to be kept. */
export async function clearBatch(
  { store: { queue }, door }: FinishParts,
  batch: HeldBatch,
  signal: AbortSignal,
): Promise<void> {
  for (const responseId of await queue.unkeptRuns(batch)) await door.removeResponse(batch.owner, responseId);
  while (await queue.removeLines(batch)) signal.throwIfAborted();
  await queue.close(batch);
}

interface Writing {
  readonly id: string;
  readonly name: string;
  readonly state: "done" | "not done";
  readonly ending: BatchEnding;
}

/** False if there are no lines for this file. */
async function writeFile(
  { store: { queue }, files }: FinishParts,
  batch: HeldBatch,
  { id, name, state, ending }: Writing,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await queue.linesOf(batch, state, 0)).length === 0) return false;
  if ((await files.findFile(batch.owner, id)) !== null) return true;
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for (let after = 0; ; ) {
      const lines = await queue.linesOf(batch, state, after);
      if (lines.length === 0) return;
      for (const { customId, result } of lines) yield Buffer.from(`${result ?? unbegunLine(customId, ending)}\n`);
      after = lines.at(-1)?.line ?? after;
    }
  };
  await files.createFile(
    batch.owner,
    {
      id,
      purpose: "batch_output",
      filename: name,
      mimeType: "application/jsonl",
      content: content(),
      expiresAfter: batch.outputExpiresAfter,
    },
    signal,
  );
  return true;
}

const UNBEGUN: Readonly<Record<BatchEnding, BatchLineError>> = {
  cancelled: { code: "batch_cancelled", message: "The batch was cancelled before this request was begun." },
  expired: { code: "batch_expired", message: "The batch expired before this request was begun." },
  completed: { code: "batch_expired", message: "This request was not begun." },
};

function unbegunLine(customId: string, ending: BatchEnding): string {
  const id = newId("batch_req", Math.floor(Date.now() / 1000));
  const line: BatchOutputLine = { id, custom_id: customId, response: null, error: UNBEGUN[ending] };
  return JSON.stringify(line);
}
