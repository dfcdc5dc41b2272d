import { splitTokens } from "../tokens.ts";
import { readAnnotation } from "./read-annotation.ts";
import { type CallKind, readCall } from "./read-call.ts";
import { readModelError } from "./read-model-error.ts";
import { PHASES, readModelEvent, readScenarioUsage } from "./read-model-event.ts";
import { readChoice, readInteger, readList, readMapping, readText, readTexts } from "./read-values.ts";
import type { Place } from "./scenario-error.ts";
import type { ScenarioEvent } from "./scenario-file.ts";

/** Ten minutes. Also keeps the delay far below the limit of JavaScript timers. */
const DELAY_MS_MAX = 600_000;

type Reader = (value: unknown, place: Place) => readonly ScenarioEvent[];

/** Readers for the keys of `events` elements. Each element has exactly one key. */
const READERS: Readonly<Record<string, Reader>> = {
  text: (value, place) => [{ type: "text", pieces: readPieces(value, place) }],
  refusal: (value, place) =>
    readPieces(value, place).map((text) => ({ type: "event", event: { type: "refusal_delta", text } })),
  reasoning: (value, place) =>
    readPieces(value, place).map((text) => ({ type: "event", event: { type: "reasoning_delta", text } })),
  reasoning_summary: readSummary,
  call: (value, place) => readCallEvents("function", value, place),
  custom_call: (value, place) => readCallEvents("custom", value, place),
  message: (value, place) => {
    const { phase } = readMapping(value ?? {}, place, ["phase"]);
    const known = phase === undefined ? {} : { phase: readChoice(phase, place.member("phase"), PHASES) };
    return [{ type: "event", event: { type: "message_started", ...known } }];
  },
  annotation: (value, place) => [
    { type: "event", event: { type: "annotation", annotation: readAnnotation(value, place) } },
  ],
  usage: (value, place) => [{ type: "event", event: { type: "usage", usage: readScenarioUsage(value, place) } }],
  finish: readFinish,
  delay_ms: (value, place) => [{ type: "pause", ms: readInteger(value, place, 0, DELAY_MS_MAX) }],
  error: (value, place) => [{ type: "failure", error: readModelError(value, place) }],
  raw: (value, place) => [{ type: "event", event: readModelEvent(value, place) }],
};

export function readScenarioEvent(value: unknown, place: Place): readonly ScenarioEvent[] {
  const kinds = Object.keys(READERS);
  const entry = readMapping(value, place, [...kinds, "refuse_turn"]);
  const keys = Object.keys(entry);
  const [key] = keys;
  if (key === "refuse_turn") throw place.error("is not allowed: refuse_turn must be the only event");
  const read = key === undefined ? undefined : READERS[key];
  if (key === undefined || read === undefined || keys.length > 1)
    throw place.error(`should have exactly one of these keys: ${kinds.join(", ")}`);
  return read(entry[key], place.member(key));
}

/** Splits a text into tokens; `{chunks: […]}` gives the pieces unchanged. */
function readPieces(value: unknown, place: Place): readonly string[] {
  if (typeof value === "string") return splitTokens(value);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw place.expected("a text or {chunks: […]}", value);
  return readTexts(readMapping(value, place, ["chunks"])["chunks"], place.member("chunks"));
}

function readSummary(value: unknown, place: Place): readonly ScenarioEvent[] {
  return readList(value, place).flatMap((part, index): ScenarioEvent[] => [
    ...(index === 0 ? [] : [{ type: "event", event: { type: "reasoning_summary_break" } } as const]),
    ...splitTokens(readText(part, place.element(index))).map(
      (text): ScenarioEvent => ({ type: "event", event: { type: "reasoning_summary_delta", text } }),
    ),
  ]);
}

function readCallEvents(kind: CallKind, value: unknown, place: Place): readonly ScenarioEvent[] {
  return readCall(kind, value, place).map((event) => ({ type: "event", event }));
}

function readFinish(value: unknown, place: Place): readonly ScenarioEvent[] {
  const reason = readChoice(value, place, ["stop", "length", "content_filter", "none"]);
  return [reason === "none" ? { type: "break_off" } : { type: "event", event: { type: "finished", reason } }];
}
