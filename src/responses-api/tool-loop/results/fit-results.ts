import type { HostedOutput } from "@antiphon/domain/models/hosted.ts";
import { type ModelRequest, PLAIN_REQUEST } from "@antiphon/domain/models/model-request.ts";
import { inputRoom } from "../../window/answer-room.ts";
import type { WindowEngine } from "../../window/fit-to-window.ts";
import { tokensAtMost } from "../../window/request-size.ts";
import type { ToolSet } from "../open-tools.ts";
import { type HostedResult, hostedResults, leftOutResult, shortResult } from "./hosted-results.ts";

/** The share of the remaining window for the results of one turn. Two turns then fit side by side. */
const TURN_SHARE = 0.4;
/** The share of the window for results if the oldest items of the context can make room. */
const DROPPING_SHARE = 0.5;
/** Results with fewer characters in total fit every window. */
const CHARACTERS_MIN = 2000;
/** A result with a smaller budget is cut to its notice. */
const RESULT_TOKENS_MIN = 100;
/** The approximate size of the notice that replaces a result. Shorter results are not left out. */
const LEFT_OUT_TOKENS = 50;
const LEFT_OUT_CHARACTERS_MIN = 200;
/** The share of the room that stays free beside older results, whose sizes are estimates. */
const OLDER_MARGIN = 0.005;
/** How often a cut is corrected, because tokens are not spread evenly over a text. */
const CUTS_MAX = 4;
/** A cut text is measured again, so it aims a little below its budget. */
const AIM = 0.95;

export interface ResultRules {
  /** Whether to leave out the oldest items of a context that is too long. */
  readonly dropsOldest: boolean;
  /** The tools that cut their own results; null if none are open. */
  readonly tools: Pick<ToolSet, "find"> | null;
}

/**
 * Cuts the results of hosted tools to fit the model's window. Results of the latest turn share a part of the remaining
 * window; older ones stay while there is room, then are left out, the oldest first. Returns the request unchanged if
 * the window is unknown, or if everything fits.
 */
export async function fitResults(
  engine: WindowEngine,
  request: ModelRequest,
  rules: ResultRules,
  signal: AbortSignal,
): Promise<ModelRequest> {
  const results = hostedResults(request.items);
  if (results.reduce((sum, { item }) => sum + item.output.length, 0) < CHARACTERS_MIN) return request;
  const window = await engine.contextWindow(request.model, signal);
  if (window === null) return request;
  const room = inputRoom(request, window);
  const bare = withResults(request, results, emptyOutput);
  const most = results.reduce((sum, { item }) => sum + Buffer.byteLength(item.output), 0);
  if (most <= TURN_SHARE * (room - (await tokensAtMost(bare)))) return request;
  const { tokens: base } = await engine.countTokens(bare, signal);
  const roomLeft = Math.max(room - base, rules.dropsOldest ? room * DROPPING_SHARE : 0);
  const cutter = new ResultCutter(engine, request.model, rules, signal);
  const newest = await cutter.cutNewest(
    results.filter(({ isNewest }) => isNewest),
    roomLeft,
  );
  const older = results.filter(({ isNewest }) => !isNewest);
  if (older.length === 0) return withResults(request, newest);
  const visibleRequest = withResults(
    request,
    results.filter(({ isNewest }) => isNewest),
    emptyOutput,
  );
  const tokens = Math.max((await engine.countTokens(visibleRequest, signal)).tokens - base, 0);
  const free = roomLeft - newest.reduce((sum, result) => sum + result.tokens, room * OLDER_MARGIN);
  const olderResults = await cutter.cutOlder(older, { tokens, free, each: TURN_SHARE * room });
  return withResults(request, [...newest, ...olderResults]);
}

/** A result as the model sees it. */
interface ShownResult {
  readonly place: number;
  readonly item: HostedOutput;
  readonly tokens: number;
}

/** In tokens. */
interface OlderBudget {
  /** The size of all results, uncut. */
  readonly tokens: number;
  /** The remaining window for all results. */
  readonly free: number;
  /** The maximum for each result. */
  readonly each: number;
}

class ResultCutter {
  readonly #engine: WindowEngine;
  readonly #model: string;
  readonly #tools: ResultRules["tools"];
  readonly #signal: AbortSignal;

  constructor(engine: WindowEngine, model: string, { tools }: ResultRules, signal: AbortSignal) {
    this.#engine = engine;
    this.#model = model;
    this.#tools = tools;
    this.#signal = signal;
  }

  /** The results of the latest turn share a part of the remaining tokens. */
  async cutNewest(results: readonly HostedResult[], room: number): Promise<readonly ShownResult[]> {
    const sizes = await Promise.all(results.map(({ item }) => this.#count(item.output)));
    const budgets = dividedEvenly(sizes, TURN_SHARE * room);
    const cuts = results.map((result, index) =>
      this.#cut(result, sizes[index] ?? 0, Math.max(budgets[index] ?? 0, RESULT_TOKENS_MIN)),
    );
    return await Promise.all(cuts);
  }

  /** The newest of them stay as far as there is room. Their sizes are estimated from their lengths. */
  async cutOlder(
    results: readonly HostedResult[],
    { tokens, free, each }: OlderBudget,
  ): Promise<readonly ShownResult[]> {
    const characters = results.reduce((sum, { item }) => sum + item.output.length, 1);
    const output: ShownResult[] = [];
    let roomLeft = free;
    let isFull = false;
    for (const result of results.toReversed()) {
      const size = (result.item.output.length / characters) * tokens;
      isFull ||= Math.min(size, each) > roomLeft;
      const isLeftOut = isFull && result.item.output.length > LEFT_OUT_CHARACTERS_MIN;
      const { place } = result;
      output.push(
        isLeftOut
          ? { place, item: leftOutResult(result), tokens: LEFT_OUT_TOKENS }
          : await this.#cut(result, size, each),
      );
      roomLeft -= output.at(-1)?.tokens ?? 0;
    }
    return output;
  }

  /** The result in at most `budget` tokens, as far as its notice allows. */
  async #cut(result: HostedResult, size: number, budget: number): Promise<ShownResult> {
    let item = result.item;
    let tokens = size;
    let characters = item.output.length;
    for (let cuts = 0; tokens > budget && cuts < CUTS_MAX; cuts += 1) {
      characters = cuts === CUTS_MAX - 1 ? 0 : Math.floor((characters * budget * AIM) / tokens);
      item = shortResult(result, characters, this.#tools);
      tokens = await this.#count(item.output);
    }
    return { place: result.place, item, tokens };
  }

  async #count(text: string): Promise<number> {
    const item = { type: "message", role: "user", content: text } as const;
    const request = { ...PLAIN_REQUEST, model: this.#model, items: [item] };
    return (await this.#engine.countTokens(request, this.#signal)).tokens;
  }
}

function emptyOutput({ item }: Pick<ShownResult, "item">): HostedOutput {
  return { ...item, output: "" };
}

/** The request with these results in their places; others are mapped by `other`. */
function withResults<Result extends Pick<ShownResult, "place" | "item">>(
  request: ModelRequest,
  results: readonly Result[],
  other: (result: Result) => HostedOutput = ({ item }) => item,
): ModelRequest {
  const items = [...request.items];
  for (const result of results) items[result.place] = other(result);
  return { ...request, items };
}

/** Divides a sum over demands: none gets more than its demand, and the others share the remainder. */
export function dividedEvenly(demands: readonly number[], sum: number): readonly number[] {
  const order = [...demands.keys()].toSorted((one, other) => (demands[one] ?? 0) - (demands[other] ?? 0));
  const shares = demands.map(() => 0);
  let rest = sum;
  for (const [count, index] of order.entries()) {
    const share = Math.min(demands[index] ?? 0, rest / (order.length - count));
    shares[index] = share;
    rest -= share;
  }
  return shares;
}
