import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { isSummary } from "../compaction/begin-at-compaction.ts";
import { newestOutputsStart } from "./newest-outputs.ts";

type Item = ModelRequest["items"][number];

/** Items that must be left out together, by their indexes in the context. */
export interface Unit {
  readonly places: readonly number[];
  /** Whether a context may begin with this unit. Most chat templates require a user message before any answer. */
  readonly mayLead: boolean;
}

/**
 * The units that may be left out of a context, oldest first: user messages except the last, answers, and tool calls
 * with their outputs and reasoning. Excludes instructions, summaries of compactions and the results of the latest turn.
 */
export function droppableUnits(items: readonly Item[]): readonly Unit[] {
  const lastUser = items.findLastIndex((item) => roleOf(item) === "user" && !isSummary(item));
  const byCall = new Map<string, number[]>();
  const units: { places: number[]; mayLead: boolean }[] = [];
  let reasoning: number[] = [];
  for (const [place, item] of items.entries()) {
    if (place === lastUser || isPinned(item)) continue;
    if (item.type === "reasoning") {
      reasoning.push(place);
      continue;
    }
    const callId = pairId(item);
    const placesOfCall = callId === null ? undefined : byCall.get(callId);
    if (placesOfCall !== undefined) {
      placesOfCall.push(place);
      continue;
    }
    const places = [...reasoning, place];
    reasoning = [];
    if (callId !== null) byCall.set(callId, places);
    units.push({ places, mayLead: roleOf(item) === "user" || place > lastUser });
  }
  if (reasoning.length > 0) units.push({ places: reasoning, mayLead: true });
  const newest = newestOutputsStart(items);
  return units.filter(({ places }) => places.every((place) => place < newest));
}

function isPinned(item: Item): boolean {
  const role = roleOf(item);
  return role === "system" || role === "developer" || isSummary(item);
}

function roleOf(item: Item): string | null {
  return "role" in item && typeof item.role === "string" ? item.role : null;
}

/** The id that a call shares with its output, or an approval request with its answer. */
function pairId(item: Item): string | null {
  if (item.type === "local_shell_call" || item.type === "local_shell_call_output") return item.id ?? null;
  if (item.type === "hosted_call" || item.type === "hosted_output") return item.callId;
  if ("call_id" in item && typeof item.call_id === "string") return item.call_id;
  if (item.type === "mcp_approval_request") return item.id ?? null;
  if ("approval_request_id" in item && typeof item.approval_request_id === "string") return item.approval_request_id;
  return null;
}
