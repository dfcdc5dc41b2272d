import { splitTokens } from "../tokens.ts";
import { readAnnotation } from "./read-annotation.ts";
import { type CallKind, readCall } from "./read-call.ts";
import { readModelError } from "./read-model-error.ts";
import { PHASES, readModelEvent, readUsage } from "./read-model-event.ts";
import { readChoice, readInteger, readList, readMapping, readText, readTexts } from "./read-values.ts";
import type { Line } from "./scenario.ts";
import type { Place } from "./scenario-error.ts";

/** Timers cannot wait longer than some weeks, and nobody should wait longer than this. */
const DELAY_MS_MAX = 600_000;

type Reader = (value: unknown, place: Place) => readonly Line[];

/** What an element of `events` may say: one key, one thing. */
const READERS: Readonly<Record<string, Reader>> = {
  text: (value, place) => [{ type: "text", pieces: readPieces(value, place) }],
  refusal: (value, place) =>
    readPieces(value, place).map((text) => ({ type: "event", event: { type: "refusal_delta", text } })),
  reasoning: (value, place) =>
    readPieces(value, place).map((text) => ({ type: "event", event: { type: "reasoning_delta", text } })),
  reasoning_summary: readSummary,
  call: (value, place) => readCallLines("function", value, place),
  custom_call: (value, place) => readCallLines("custom", value, place),
  message: (value, place) => {
    const { phase } = readMapping(value ?? {}, place, ["phase"]);
    const known = phase === undefined ? {} : { phase: readChoice(phase, place.member("phase"), PHASES) };
    return [{ type: "event", event: { type: "message_started", ...known } }];
  },
  annotation: (value, place) => [
    { type: "event", event: { type: "annotation", annotation: readAnnotation(value, place) } },
  ],
  usage: (value, place) => [{ type: "event", event: { type: "usage", usage: readUsage(value, place) } }],
  finish: readFinish,
  delay_ms: (value, place) => [{ type: "pause", ms: readInteger(value, place, 0, DELAY_MS_MAX) }],
  error: (value, place) => [{ type: "failure", error: readModelError(value, place) }],
  raw: (value, place) => [{ type: "event", event: readModelEvent(value, place) }],
};

export function readLine(value: unknown, place: Place): readonly Line[] {
  const kinds = Object.keys(READERS);
  const entry = readMapping(value, place, [...kinds, "refuse_turn"]);
  const keys = Object.keys(entry);
  const [key] = keys;
  if (key === "refuse_turn") throw place.error("comes too late: refuse_turn must be the only event");
  const read = key === undefined ? undefined : READERS[key];
  if (key === undefined || read === undefined || keys.length > 1)
    throw place.error(`should have exactly one of the keys ${kinds.join(", ")}`);
  return read(entry[key], place.member(key));
}

/** A text is split into words, `{chunks: […]}` is taken as it is. */
function readPieces(value: unknown, place: Place): readonly string[] {
  if (typeof value === "string") return splitTokens(value);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw place.expected("a text or {chunks: […]}", value);
  return readTexts(readMapping(value, place, ["chunks"])["chunks"], place.member("chunks"));
}

function readSummary(value: unknown, place: Place): readonly Line[] {
  return readList(value, place).flatMap((part, index): Line[] => [
    ...(index === 0 ? [] : [{ type: "event", event: { type: "reasoning_summary_break" } } as const]),
    ...splitTokens(readText(part, place.element(index))).map(
      (text): Line => ({ type: "event", event: { type: "reasoning_summary_delta", text } }),
    ),
  ]);
}

function readCallLines(kind: CallKind, value: unknown, place: Place): readonly Line[] {
  return readCall(kind, value, place).map((event) => ({ type: "event", event }));
}

function readFinish(value: unknown, place: Place): readonly Line[] {
  const reason = readChoice(value, place, ["stop", "length", "content_filter", "none"]);
  return [reason === "none" ? { type: "break_off" } : { type: "event", event: { type: "finished", reason } }];
}
