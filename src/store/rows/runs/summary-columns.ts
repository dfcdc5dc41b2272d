import type { Response } from "../../../../generated/responses-api/types.ts";
import type { ClosedRun, OpenedRun } from "../../../runs/ports/event-log.ts";
import { storedJson } from "../../database/stored-json.ts";
import { inputPreview, outputPreview } from "./preview.ts";
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
