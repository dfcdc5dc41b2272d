import { ApiError } from "../../base/api-error.ts";
import { mapInSlices } from "../../base/limits/slices.ts";
import { type ModelEngine, ModelError, type ModelRequest } from "../../runs/ports.ts";
import { inputTooLong } from "../errors/model-errors.ts";
import { droppableUnits } from "./droppable-units.ts";
import { relativeSize, tokensAtMost } from "./request-size.ts";

export type WindowEngine = Pick<ModelEngine, "countTokens" | "contextWindow">;

/** Tokens reserved for the answer if the request sets no maximum. The share of the window caps either number. */
const ANSWER_TOKENS = 1024;
const ANSWER_SHARE_MAX = 0.25;
/**
 * Each round drops items by estimated size and then counts tokens once. The last round drops all that may be dropped.
 */
const ROUNDS_MAX = 5;

/**
 * Leaves out the oldest items until input and answer fit the model's window. Counts tokens only if the request may be
 * too long. Returns the request unchanged if the window is unknown: the model server then refuses what is too long.
 * Throws `context_length_exceeded` if the items that must stay do not fit.
 */
export async function fitToWindow(
  engine: WindowEngine,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelRequest> {
  const window = await engine.contextWindow(request.model, signal);
  if (window === null) return request;
  const room = window - answerTokens(request, window);
  if ((await tokensAtMost(request)) <= room) return request;
  const whole = await engine.countTokens(request, signal);
  if (whole.tokens <= room) return request;
  return await shortened(engine, request, { tokens: whole.tokens, room }, signal);
}

function answerTokens({ maxOutputTokens }: ModelRequest, window: number): number {
  return Math.min(maxOutputTokens ?? ANSWER_TOKENS, Math.floor(window * ANSWER_SHARE_MAX));
}

async function shortened(
  engine: WindowEngine,
  request: ModelRequest,
  start: { readonly tokens: number; readonly room: number },
  signal: AbortSignal,
): Promise<ModelRequest> {
  const { room } = start;
  const sizes = await mapInSlices(request.items, relativeSize);
  const units = droppableUnits(request.items);
  let { tokens } = start;
  let total = sizes.reduce((sum, each) => sum + each, 0);
  let count = 0;
  for (let round = 1; round <= ROUNDS_MAX && count < units.length; round += 1) {
    const surplus = round === ROUNDS_MAX ? Infinity : ((tokens - room) / tokens) * total;
    let dropped = 0;
    while (count < units.length && (dropped === 0 || dropped < surplus || units[count]?.mayLead === false)) {
      dropped += units[count]?.places.reduce((sum, place) => sum + (sizes[place] ?? 0), 0) ?? 0;
      count += 1;
    }
    total -= dropped;
    const left = without(request, units.slice(0, count));
    ({ tokens } = await engine.countTokens(left, signal));
    if (tokens <= room) return left;
  }
  throw inputTooLong();
}

function without(request: ModelRequest, units: ReturnType<typeof droppableUnits>): ModelRequest {
  const left = new Set(units.flatMap(({ places }) => places));
  return { ...request, items: request.items.filter((_item, place) => !left.has(place)) };
}

/** Leaves out the oldest items. A request that does not fit even so fails as one that the model server refuses. */
export async function fitTurn(engine: ModelEngine, request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
  try {
    return await fitToWindow(engine, request, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, type, code, param } = error;
    throw new ModelError(error.message, { status, type, code, param, cause: error });
  }
}
