import type { OutputItem, StoredItem, Tool } from "../../../generated/responses-api/types.ts";
import { idFromStem, numberOfId } from "../../base/ids.ts";
import { cutForm, type ShownAnswer } from "../../runs/index.ts";
import type { ContextItem, HostedItem, ModelEvent } from "../../runs/ports.ts";
import type { ToolScope } from "../hosted-tool.ts";
import { exchangeItems } from "../input/with-exchanges.ts";
import type { BegunExchange, FinishedExchange, KnownExchange, TurnInLedger } from "../ports.ts";
import { interruptedForm, isClientsTurn, wholeItem } from "../tool-loop/hosted-run.ts";
import type { LoopRun, LoopServices } from "../tool-loop/loop-parts.ts";
import { type ResumedUsage, resumedUsage } from "../tool-loop/usage/resumed-usage.ts";
import type { RunTask } from "./run-task.ts";

/** Ids of hosted items count from here; those of output items from 0, those of input items from 0x10000000. */
const HOSTED_NUMBER_FIRST = 0x2000_0000;

/** Where the loop of a response goes on after a crash. */
export interface ResumePoint {
  /** What the model is shown of the items that have ended, oldest first. */
  readonly items: readonly ContextItem[];
  /** What is still to be done for calls that had begun, in the order in which they are shown. */
  readonly steps: readonly ResumeStep[];
  /** How many ids of hosted items are used. */
  readonly idsUsed: number;
  readonly calls: number;
  /** Turns that have ended or have begun a call. */
  readonly turns: number;
  readonly used: ResumedUsage;
  /** The requests whose approvals were used. */
  readonly spent: ReadonlySet<string>;
  /** Functions of the client that tool searches have found. */
  readonly found: readonly Tool[];
  /** Lists of tools that were shown whole. */
  readonly lists: readonly StoredItem[];
  /** The items that have ended, as they are stored. */
  readonly output: readonly StoredItem[];
  /** The highest number of what the model was told that it may cite. */
  readonly citedBefore: number;
}

export type ResumeStep =
  /** The open item ends; its call has not begun, and the model is asked again. */
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
  /** Follows a call that was shown whole. Begins with `first`, unless it is the open item. */
  | { readonly type: "follows"; readonly first: HostedItem | null; readonly last: HostedItem }
  /** The call runs again under its item, which begins with `first`, unless it is open. */
  | {
      readonly type: "again";
      readonly exchange: KnownExchange;
      readonly item: HostedItem;
      readonly first: HostedItem | null;
    };

const UNKNOWN_EFFECT =
  "The call was interrupted, and whether it took effect is unknown. It was not repeated. Ask the user before you repeat it.";
const SESSION_INTERRUPTED =
  "The session was interrupted. Files of /mnt/data are kept, variables are lost. Run again what you need.";

/** Whether the model can be asked for the rest of an answer of which this was shown before a crash. */
export function canResume(task: Pick<RunTask, "tools">, shown: ShownAnswer): boolean {
  if (task.tools === null) return false;
  const { output, open } = shown;
  // The response would have ended after the turn that asks the client for something, and after its compaction. A call
  // that was still being written asked for nothing yet.
  const isAtEnd = output.some((item) => isClientsTurn(item) || item.type === "compaction");
  return !isAtEnd && open?.type !== "mcp_approval_request";
}

/** Where a run goes on after a crash; null if it begins. */
export async function resumedAt(
  { ledger }: Pick<LoopServices, "ledger">,
  { shown, owner, responseId }: LoopRun,
): Promise<ResumePoint | null> {
  if (shown === null) return null;
  const [exchanges = [], ended = []] = await Promise.all([
    ledger?.listOf(owner, responseId),
    ledger?.turnsOf(owner, responseId),
  ]);
  return resumePoint(shown, exchanges, ended);
}

/** The ids of hosted items are counted, so a restarted run makes the same ones. */
export function itemIds({ ids }: RunTask, used: number): ToolScope["newItemId"] {
  let count = used;
  return (prefix) => {
    count += 1;
    return idFromStem(prefix, ids, HOSTED_NUMBER_FIRST + count - 1);
  };
}

/** Decides where the loop goes on, from what was shown and from the calls that had begun. */
export function resumePoint(
  answer: ShownAnswer,
  exchanges: readonly KnownExchange[],
  ended: readonly TurnInLedger[],
): ResumePoint {
  const { output, open } = answer;
  const known = new Map(exchanges.map((exchange) => [exchange.itemId, exchange]));
  const shown = new Set([...output.map(({ id }) => id), open?.id]);
  const unshown = exchanges
    .filter(({ itemId }) => !shown.has(itemId))
    .toSorted((one, other) => orderOf(one) - orderOf(other));
  const followers = exchanges.flatMap(({ result }) => result?.following ?? []);
  const ids = [...output, ...followers, ...(open === null ? [] : [open])].map(({ id }) => id ?? "");
  const numbers = [...ids, ...known.keys()].map((id) => (numberOfId(id) ?? 0) - HOSTED_NUMBER_FIRST + 1);
  const items = output.flatMap((item) => contextItems(item, known));
  const follows = followSteps(answer, known);
  const isFollowing = follows.some(({ last }) => last.id === open?.id);
  const steps = [
    ...follows,
    ...(open === null || isFollowing ? [] : [openStep(open, known.get(open.id ?? ""))]),
    ...unshown.flatMap(unshownStep),
  ];
  return {
    items,
    output,
    citedBefore: Math.max(0, ...items.flatMap(numbersTold)),
    steps,
    idsUsed: Math.max(0, ...numbers),
    calls: exchanges.length,
    turns: Math.max(0, ...ended.map(({ number }) => number), ...exchanges.map(({ turn }) => turn)),
    used: resumedUsage(answer, exchanges, ended),
    spent: new Set(exchanges.flatMap(({ approvalRequestId }) => approvalRequestId ?? [])),
    found: [...output, ...steps.flatMap(followingOf)].flatMap((item) =>
      item.type === "tool_search_output" ? item.tools : [],
    ),
    lists: output.flatMap((item) => (item.type === "mcp_list_tools" && item.error == null ? [item] : [])),
  };
}

function orderOf({ itemId }: KnownExchange): number {
  return numberOfId(itemId) ?? 0;
}

function contextItems(item: OutputItem, known: ReadonlyMap<string, KnownExchange>): readonly ContextItem[] {
  if (item.type === "message" || item.type === "reasoning") return [item];
  const exchange = known.get(item.id ?? "");
  return exchange === undefined ? [] : exchangeItems(exchange);
}

/** A number that a page made up only leaves numbers out. */
function numbersTold(item: ContextItem): readonly number[] {
  if (item.type !== "hosted_output") return [];
  return Array.from(item.output.matchAll(/\[(?:web|file):(\d{1,6})\]/g), ([, number]) => Number(number));
}

/** The items that follow calls which were shown whole, as far as they were not shown. */
function followSteps(
  { output, open }: ShownAnswer,
  known: ReadonlyMap<string, KnownExchange>,
): readonly Extract<ResumeStep, { type: "follows" }>[] {
  const whole = new Set(output.map(({ id }) => id));
  return output
    .flatMap(({ id }) => known.get(id ?? "")?.result?.following ?? [])
    .filter(({ id }) => !whole.has(id))
    .map((last) => ({ type: "follows", first: last.id === open?.id ? null : firstOfFollowing(last), last }));
}

/** What a step shows, unless its call runs again. */
export function eventsOfStep(step: Exclude<ResumeStep, { type: "again" }>): readonly ModelEvent[] {
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
function firstOfFollowing(last: HostedItem): HostedItem {
  return last.type === "shell_call_output" ? { ...last, output: [] } : last;
}

/** What a step shows beside the item of its call. */
function followingOf(step: ResumeStep): readonly HostedItem[] {
  if (step.type === "follows") return [step.last];
  return step.type === "settled" ? (step.result.following ?? []) : [];
}

/** The item of the call that a step ends; none if it runs again. */
export function itemOfStep(step: ResumeStep): readonly HostedItem[] {
  if (step.type === "settled") return [step.result.item];
  return step.type === "cut" ? [step.last] : [];
}

function openStep(open: HostedItem, exchange: KnownExchange | undefined): ResumeStep {
  if (exchange === undefined) return { type: "cut", last: cutForm(open) };
  const { result } = exchange;
  if (result !== null) return { type: "settled", exchange, result, first: null, isNew: false };
  if (exchange.effect === "none") return { type: "again", exchange, item: open, first: null };
  return interrupted(exchange, open, null);
}

/**
 * A call whose item was not shown. One without effects is forgotten, since the model is asked again; but one that was
 * approved is over or runs again, since an approval allows one call.
 */
function unshownStep(exchange: KnownExchange): readonly ResumeStep[] {
  const { result, effect, approvalRequestId } = exchange;
  if (effect !== "may_have" && approvalRequestId === null) return [];
  const first = firstFormOf(exchange);
  if (result !== null) return [{ type: "settled", exchange, result, first: first ?? result.item, isNew: false }];
  if (first === null) return [];
  return [effect === "none" ? { type: "again", exchange, item: first, first } : interrupted(exchange, first, first)];
}

/** The end of a call that is not run again. */
function interrupted(exchange: KnownExchange, item: HostedItem, first: HostedItem | null): ResumeStep {
  const isSession = exchange.effect === "sandboxed";
  const result: FinishedExchange = {
    itemId: exchange.itemId,
    item: isSession ? cutForm(item) : interruptedForm(item, exchange.arguments),
    output: isSession ? SESSION_INTERRUPTED : UNKNOWN_EFFECT,
    parts: [],
    usage: null,
  };
  return { type: "settled", exchange, result, first, isNew: true };
}

/** Null for a tool of this server: none of those changes the world. */
function firstFormOf({ itemId, server, name, approvalRequestId }: KnownExchange): HostedItem | null {
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
