import { isRecord } from "../../../base/json/records.ts";
import type { ModelEvent } from "../../../runs/ports/model-events.ts";
import { splitTokens } from "../tokens.ts";
import { readInteger, readMapping, readName, readOptional, readText } from "./read-values.ts";
import type { Place } from "./scenario-error.ts";

export type CallKind = Exclude<Extract<ModelEvent, { type: "call_started" }>["kind"], "hosted">;

const CHUNKS_MAX = 10_000;
const COMMON_KEYS = ["name", "namespace", "call_id", "chunks"];

/** Reads a whole call: its start, its arguments or input in pieces, and its end. */
export function readCall(kind: CallKind, value: unknown, place: Place): ModelEvent[] {
  const inputKey = kind === "function" ? "arguments" : "input";
  const call = readMapping(value, place, [...COMMON_KEYS, inputKey]);
  const namespace = readOptional(call["namespace"], (name) => readName(name, place.member("namespace")));
  const chunks = readOptional(call["chunks"], (count) => readInteger(count, place.member("chunks"), 1, CHUNKS_MAX));
  const input =
    kind === "function"
      ? readCallArguments(call["arguments"], place.member("arguments"))
      : readText(call["input"], place.member("input"));
  return [
    {
      type: "call_started",
      kind,
      callId: readOptional(call["call_id"], (id) => readName(id, place.member("call_id"))),
      name: readName(call["name"], place.member("name")),
      ...(namespace === null ? {} : { namespace }),
    },
    ...(chunks === null ? splitTokens(input) : cutEvenly(input, chunks)).map(
      (text) => ({ type: "call_delta", text }) as const,
    ),
    { type: "call_finished" },
  ];
}

/** A mapping becomes JSON; a text is used unchanged, so that a scenario can send invalid JSON. */
function readCallArguments(value: unknown, place: Place): string {
  if (value === undefined || value === null) return "{}";
  if (typeof value === "string") return value;
  if (!isRecord(value)) throw place.expected("a mapping or a text", value);
  return JSON.stringify(value);
}

/** Cuts into `count` pieces, or fewer if the text is too short. */
function cutEvenly(text: string, count: number): string[] {
  const characters = [...text];
  const size = characters.length / count;
  const pieces = Array.from({ length: count }, (_, index) =>
    characters.slice(Math.round(index * size), Math.round((index + 1) * size)).join(""),
  );
  return pieces.filter((piece) => piece !== "");
}
