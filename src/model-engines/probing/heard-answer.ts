import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

/** A probe's view of one turn. */
export interface HeardAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** The number of arrivals of text. */
  readonly textArrivals: number;
  readonly hasUsage: boolean;
  readonly hasLogprobs: boolean;
  readonly end: Extract<ModelEvent, { type: "finished" }>["reason"] | null;
}

/** Reads a turn to its end. */
export async function hearAnswer(batches: AsyncIterable<readonly ModelEvent[]>): Promise<HeardAnswer> {
  const all: ModelEvent[] = [];
  let textArrivals = 0;
  for await (const batch of batches) {
    if (batch.some(({ type }) => type === "text_delta")) textArrivals += 1;
    all.push(...batch);
  }
  const calls: { name: string; arguments: string }[] = [];
  for (const event of all) {
    if (event.type === "call_started") calls.push({ name: event.name, arguments: "" });
    const call = calls.at(-1);
    if (event.type === "call_delta" && call !== undefined) call.arguments += event.text;
  }
  const textOf = (...types: readonly string[]): string =>
    all.flatMap((event) => ("text" in event && types.includes(event.type) ? [event.text] : [])).join("");
  return {
    text: textOf("text_delta"),
    reasoning: textOf("reasoning_delta", "reasoning_summary_delta"),
    calls,
    textArrivals,
    hasUsage: all.some((event) => event.type === "usage" && event.usage.isEstimate !== true),
    hasLogprobs: all.some((event) => event.type === "text_delta" && (event.logprobs?.length ?? 0) > 0),
    end: all.flatMap((event) => (event.type === "finished" ? [event.reason] : [])).at(-1) ?? null,
  };
}

/** Whether each call has arguments with a place, as required by the probes' tool. */
export function callsNamePlaces({ calls }: HeardAnswer): boolean {
  return calls.length > 0 && calls.every((call) => typeof member(call.arguments, "place") === "string");
}

/** A member of a JSON object; undefined if the text is not one. */
export function member(json: string, name: string): unknown {
  const value = jsonOrUndefined(json);
  return isRecord(value) ? value[name] : undefined;
}
