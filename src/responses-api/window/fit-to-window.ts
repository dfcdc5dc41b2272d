import { mapInSlices } from "@antiphon/base/limits/slices.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { inputTooLong } from "../errors/model-errors.ts";
import { inputRoom } from "./answer-room.ts";
import { droppableUnits } from "./droppable-units.ts";
import { relativeSize, tokensAtMost } from "./request-size.ts";
import { withShorterOutputs } from "./shorter-outputs.ts";

export type WindowEngine = Pick<ModelEngine, "countTokens" | "contextWindow">;

/**
 * Each round drops items by estimated size and then counts tokens once. The last round drops everything that may be
 * dropped.
 */
const ROUNDS_MAX = 5;
/** How often the latest outputs are cut, and the share of the room that a cut aims at. */
const CUTS_MAX = 4;
const AIM = 0.9;

/**
 * Leaves out the oldest items until input and answer fit the model's window. The results of the latest turn stay; they
 * are cut if nothing else can be left out. Counts tokens only if the request may be too long. Returns the request
 * unchanged if the window is unknown: the model server then refuses requests that are too long. Throws
 * `context_length_exceeded` if the required items do not fit.
 */
export async function fitToWindow(
  engine: WindowEngine,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelRequest> {
  const window = await engine.contextWindow(request.model, signal);
  if (window === null) return request;
  const room = inputRoom(request, window);
  if ((await tokensAtMost(request)) <= room) return request;
  const whole = await engine.countTokens(request, signal);
  if (whole.tokens <= room) return request;
  return await dropOldestItems(engine, request, { tokens: whole.tokens, room }, signal);
}

async function dropOldestItems(
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
  let result = request;
  for (let round = 1; round <= ROUNDS_MAX && count < units.length; round += 1) {
    const surplus = round === ROUNDS_MAX ? Infinity : ((tokens - room) / tokens) * total;
    let droppedTokens = 0;
    while (
      count < units.length &&
      (droppedTokens === 0 || droppedTokens < surplus || units[count]?.mayLead === false)
    ) {
      droppedTokens += units[count]?.places.reduce((sum, place) => sum + (sizes[place] ?? 0), 0) ?? 0;
      count += 1;
    }
    total -= droppedTokens;
    result = without(request, units.slice(0, count));
    ({ tokens } = await engine.countTokens(result, signal));
    if (tokens <= room) return result;
  }
  return await withinRoom(engine, result, { tokens, room, total }, signal);
}

/** Cuts the latest outputs, because nothing else can be left out. `total` is the relative size of all items. */
async function withinRoom(
  engine: WindowEngine,
  request: ModelRequest,
  { tokens, room, total }: { readonly tokens: number; readonly room: number; readonly total: number },
  signal: AbortSignal,
): Promise<ModelRequest> {
  let size = (total * room * AIM) / tokens;
  for (let cuts = 1; cuts <= CUTS_MAX; cuts += 1) {
    const items = withShorterOutputs(request.items, total - size);
    if (items === null) break;
    const result = { ...request, items };
    const tokenCount = await engine.countTokens(result, signal);
    if (tokenCount.tokens <= room) return result;
    size *= (room * AIM) / tokenCount.tokens;
  }
  throw inputTooLong();
}

function without(request: ModelRequest, units: ReturnType<typeof droppableUnits>): ModelRequest {
  const droppedPlaces = new Set(units.flatMap(({ places }) => places));
  return { ...request, items: request.items.filter((_item, place) => !droppedPlaces.has(place)) };
}
