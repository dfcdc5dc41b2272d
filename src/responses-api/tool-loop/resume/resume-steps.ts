import { mayChangeWorld, mayRunAgain } from "@antiphon/domain/hosted-tool.ts";
import type { HostedItem } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { BegunExchange, DecidedCall, FinishedExchange, KnownExchange } from "@antiphon/domain/tool-ledger.ts";
import { cutForm } from "../../../runs/index.ts";
import { unknownResult, wholeItem } from "../hosted-run.ts";

/** The remaining steps of a turn that a crash interrupted, in the order in which they are shown. */
export type ResumeStep =
  /** The open item ends; its call has not begun, and the model is called again. */
  | { readonly type: "cut"; readonly last: HostedItem }
  /**
   * The call is over. Its item begins with `first`, unless it is the open one. `isNew`: the ledger has no result yet.
   */
  | {
      readonly type: "settled";
      readonly exchange: BegunExchange;
      readonly result: FinishedExchange;
      readonly first: HostedItem | null;
      readonly isNew: boolean;
    }
  /** Follows a completely shown call. Begins with `first`, unless it is the open item. */
  | { readonly type: "follows"; readonly first: HostedItem | null; readonly last: HostedItem }
  /** The call runs again under its item, which begins with `first`, unless it is open. */
  | {
      readonly type: "again";
      readonly exchange: KnownExchange;
      readonly item: HostedItem;
      readonly first: HostedItem | null;
    }
  | PlannedCall
  /** The rest of the model's output, and the complete output for later turns. */
  | { readonly type: "said"; readonly events: readonly ModelEvent[]; readonly items: readonly ContextItem[] };

/** A call decided by the model. It runs now, unless it had begun or ended according to the ledger. */
export interface PlannedCall {
  readonly type: "planned";
  readonly call: DecidedCall;
  readonly exchange: KnownExchange | null;
  /** The model's turn that made it, from 1. */
  readonly turn: number;
  /** Whether its item has begun. */
  readonly isOpen: boolean;
}

/** A step that is only shown, without further work. */
export type ShownStep = Exclude<ResumeStep, { type: "again" | "planned" }>;

const SESSION_INTERRUPTED =
  "The session was interrupted. Files that earlier calls left in /mnt/data are kept. Files that this call wrote may be lost, and all variables are lost. Run again what you need.";

/** The events of a step. */
export function eventsOfStep(step: ShownStep): readonly ModelEvent[] {
  if (step.type === "said") return step.events;
  const first = step.type === "cut" ? null : step.first;
  const last = step.type === "settled" ? step.result.item : step.last;
  const following = step.type === "settled" ? followingOf(step) : [];
  return [
    ...(first === null ? [] : [{ type: "item_started" as const, item: first }]),
    { type: "item_finished", item: last },
    ...following.flatMap((item) => wholeItem(firstOfFollowing(item), item)),
  ];
}

/** The first form of an item that follows a call. */
export function firstOfFollowing(last: HostedItem): HostedItem {
  return last.type === "shell_call_output" ? { ...last, output: [] } : last;
}

/** The items that a step shows besides its call's item. */
export function followingOf(step: ResumeStep): readonly HostedItem[] {
  if (step.type === "follows") return [step.last];
  return step.type === "settled" ? (step.result.following ?? []) : [];
}

/** The item of the call that a step ends; none if it runs. */
export function itemOfStep(step: ResumeStep): readonly HostedItem[] {
  if (step.type === "settled") return [step.result.item];
  return step.type === "cut" ? [step.last] : [];
}

/** The id of a step's call; null if it has none. */
export function callIdOfStep(step: ResumeStep): string | null {
  if (step.type === "planned") return step.call.callId;
  return "exchange" in step ? step.exchange.callId : null;
}

/** The step of an open item, whether or not its call had begun. */
export function openStep(open: HostedItem, exchange: KnownExchange | undefined): ResumeStep {
  if (exchange === undefined) return { type: "cut", last: cutForm(open) };
  const { result } = exchange;
  if (result !== null) return { type: "settled", exchange, result, first: null, isNew: false };
  if (mayRunAgain(exchange.effect)) return { type: "again", exchange, item: open, first: null };
  return interruptedStep(exchange, open, null);
}

/**
 * A call whose item was not shown. A call without effects is forgotten, because the model is called again; but an
 * approved one is over or runs again, because an approval allows one call.
 */
export function unshownStep(exchange: KnownExchange): readonly ResumeStep[] {
  const { result, effect, approvalRequestId } = exchange;
  if (!mayChangeWorld(effect) && approvalRequestId === null) return [];
  const first = firstFormOf(exchange);
  if (result !== null) return [{ type: "settled", exchange, result, first: first ?? result.item, isNew: false }];
  if (first === null) return [];
  return [
    mayRunAgain(effect) ? { type: "again", exchange, item: first, first } : interruptedStep(exchange, first, first),
  ];
}

/** The end of a call that is not repeated. */
export function interruptedStep(exchange: KnownExchange, item: HostedItem, first: HostedItem | null): ShownStep {
  const result = exchange.effect === "sandboxed" ? sessionResult(item) : unknownResult(item, exchange.arguments);
  return { type: "settled", exchange, result, first, isNew: true };
}

function sessionResult(open: HostedItem): FinishedExchange {
  const item = cutForm(open);
  return { itemId: item.id, item, output: SESSION_INTERRUPTED, parts: [], usage: null, outcome: "finished" };
}

/** The first form of a call's item. Null for a tool of this server: none of them changes the world. */
export function firstFormOf({ itemId, server, name, approvalRequestId }: KnownExchange): HostedItem | null {
  if (server === null) return null;
  return {
    id: itemId,
    type: "mcp_call",
    status: "in_progress",
    approval_request_id: approvalRequestId,
    arguments: "",
    error: null,
    name,
    output: null,
    server_label: server,
  };
}
