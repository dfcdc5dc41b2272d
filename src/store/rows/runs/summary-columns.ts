import type { OutputItem, Response, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ClosedRun, OpenedRun } from "../../../runs/ports/event-log.ts";
import { storedJson } from "../../database/stored-json.ts";
import type { Ending, Origin } from "./response-columns.ts";

/** The part of an answer shown in lists. */
export interface ReplySummary extends Pick<Response, "usage" | "error" | "incomplete_details"> {
  readonly output_preview: string;
  /** The types of tool calls. */
  readonly tools: readonly string[];
  readonly queued_ms: number | null;
}

/** `notesAtEnd`: further notes of a run that has already ended. */
export function originOf(
  { response, inputItems, origin, streamed }: OpenedRun,
  notesAtEnd: ClosedRun["notes"] = [],
): Origin {
  const notes = [...(origin?.notes ?? []), ...notesAtEnd];
  return {
    kind: response.background === true ? "background" : (origin?.kind ?? (streamed === true ? "streamed" : "plain")),
    key_id: origin?.keyId ?? null,
    metadata: JSON.stringify(response.metadata ?? {}),
    input_preview: inputPreview(inputItems),
    notes: notes.length === 0 ? null : JSON.stringify(notes),
    face: origin?.face?.name ?? null,
    face_notes: origin?.face == null ? null : JSON.stringify(origin.face.notes),
  };
}

export function endingOf({ response, times }: Pick<ClosedRun, "response" | "times">): Ending {
  return {
    reply_summary: JSON.stringify(replySummaryOf(response, times?.queuedMs ?? null)),
    event_times: times?.events ?? null,
    input_tokens: response.usage?.input_tokens ?? null,
    output_tokens: response.usage?.output_tokens ?? null,
    duration_ms: times?.durationMs ?? null,
    first_text_ms: times?.firstTextMs ?? null,
  };
}

export function readReplySummary(json: string): ReplySummary {
  return storedJson<ReplySummary>(json);
}

export function replySummaryOf(response: Response, queuedMs: number | null): ReplySummary {
  const { usage, error, incomplete_details, output } = response;
  const calls = output.map(({ type }) => type).filter((type) => type.endsWith("_call"));
  return {
    usage: usage ?? null,
    error,
    incomplete_details,
    output_preview: outputPreview(output),
    tools: calls.length === 0 ? [] : [...new Set(calls)],
    queued_ms: queuedMs,
  };
}

/** How many characters of a text lists show. */
const PREVIEW_CHARACTERS = 200;
/** White space is joined within this many characters. */
const LOOKED_AT_CHARACTERS = 400;

/** The beginning of the last text among these items; empty if there is none. */
function inputPreview(items: readonly StoredItem[]): string {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    const text = item === undefined ? "" : itemText(item);
    if (text !== "") return previewText(text);
  }
  return "";
}

/** The beginning of an answer: its first text, or else its first call. */
function outputPreview(items: readonly OutputItem[]): string {
  const texts = items.map((item) => (item.type === "message" ? itemText(item) : ""));
  return previewText(texts.find((text) => text !== "") ?? items.map(callText).find((text) => text !== "") ?? "");
}

function itemText(item: StoredItem | OutputItem): string {
  if ("content" in item && item.type === "message")
    return typeof item.content === "string" ? item.content : (item.content?.map(partText).find(isFull) ?? "");
  if ("output" in item && typeof item.output === "string") return item.output;
  return "";
}

function partText(part: object): string {
  if ("text" in part && typeof part.text === "string") return part.text;
  return "refusal" in part && typeof part.refusal === "string" ? part.refusal : "";
}

function isFull(text: string): boolean {
  return text !== "";
}

function callText(item: OutputItem): string {
  if (!("name" in item) || typeof item.name !== "string") return "";
  return `${item.name}(${"arguments" in item && typeof item.arguments === "string" ? item.arguments : ""})`;
}

function previewText(text: string): string {
  const start = text.slice(0, LOOKED_AT_CHARACTERS).replace(/\s+/g, " ").trim().slice(0, PREVIEW_CHARACTERS);
  return start.isWellFormed() ? start : start.toWellFormed();
}
