import type { ModelEngine, ModelEvent, ModelRequest } from "../../runs/ports.ts";

/**
 * The turn of a response that answers nothing. The model is not asked; the count of its input finds what would be
 * refused unasked, and has the engine ready for the turns to come. Rejects with `ModelError` as asking would.
 */
export async function warmUp(
  engine: Pick<ModelEngine, "countTokens">,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<readonly ModelEvent[]>> {
  await engine.countTokens(request, signal);
  return silence();
}

async function* silence(): AsyncGenerator<readonly ModelEvent[]> {
  yield [
    { type: "usage", usage: NOTHING_USED },
    { type: "finished", reason: "stop" },
  ];
}

const NOTHING_USED = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
