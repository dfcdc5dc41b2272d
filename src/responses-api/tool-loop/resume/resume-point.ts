import { idFromStem, numberOfId } from "@antiphon/base/ids.ts";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { OutputItem, StoredItem, Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { HostedItem } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { KnownExchange, TurnFinish, TurnInLedger } from "@antiphon/domain/tool-ledger.ts";
import type { OpenItem, ShownAnswer, UnfinishedCall, UnfinishedMessage } from "../../../runs/index.ts";
import { withoutProgramCalls } from "../../input/read-programs.ts";
import { withOpenSecret } from "../../input/reasoning-secret.ts";
import { sealScope } from "../../input/resolve-input.ts";
import { exchangeItems } from "../../input/with-exchanges.ts";
import type { RunTask } from "../../task/run-task.ts";
import { isClientsTurn } from "../hosted-run.ts";
import type { LoopRun, LoopServices } from "../loop-parts.ts";
import { type ResumedUsage, resumedUsage } from "../usage/resumed-usage.ts";
import { asksApproval, type RecordedTurn, recordedTurn } from "./recorded-turn.ts";
import { firstOfFollowing, followingOf, openStep, type ResumeStep, unshownStep } from "./resume-steps.ts";

/** The first number for ids of hosted items; output items start at 0, input items at 0x10000000. */
const HOSTED_NUMBER_FIRST = 0x2000_0000;

/** Where the loop of a response continues after a crash. */
export interface ResumePoint {
  /** The model's view of the items that have ended, oldest first. */
  readonly items: readonly ContextItem[];
  /** The remaining steps, in the order in which they are shown. */
  readonly steps: readonly ResumeStep[];
  /** The item of an interrupted turn that the next attempt continues; null if there is none. */
  readonly open: UnfinishedMessage | UnfinishedCall | null;
  /** Whether that item was shown and ends now, because it cannot continue. */
  readonly endsOpen: boolean;
  /** How the response ends after the steps; null if the model is called again, or if a call may ask the client. */
  readonly end: TurnFinish | null;
  /** Whether the last turn had ended and the next one has not begun. */
  readonly isBetweenTurns: boolean;
  /** The number of used ids of hosted items. */
  readonly idsUsed: number;
  readonly calls: number;
  /** Turns that have ended or have begun a call. */
  readonly turns: number;
  readonly usage: ResumedUsage;
  /** The requests whose approvals were used. */
  readonly spentIds: ReadonlySet<string>;
  /** Client functions found by tool searches. */
  readonly foundTools: readonly Tool[];
  /** Lists of tools that were shown completely. */
  readonly lists: readonly StoredItem[];
  /** The ended items in stored form. */
  readonly output: readonly StoredItem[];
  /** The highest number of a citable result that the model saw. */
  readonly citedBefore: number;
}

/**
 * Whether the rest of an answer with this shown beginning can be made: not if its client wants an interrupted text to
 * fail.
 */
export function canResume({ interruption }: Pick<RunTask, "interruption">, { open }: ShownAnswer): boolean {
  const isText = open?.type === "message" && open.text !== "";
  return interruption !== "fail" || !isText;
}

/** Where a run continues after a crash; null for a new run. */
export async function resumedAt(
  { ledger, sealer }: Pick<LoopServices, "ledger" | "sealer">,
  { past: { shown }, owner, responseId }: Pick<LoopRun, "past" | "owner" | "responseId">,
): Promise<ResumePoint | null> {
  if (shown === null) return null;
  const [exchanges = [], endedTurns = []] = await Promise.all([
    ledger?.listOf(owner, responseId),
    ledger?.turnsOf(owner, responseId),
  ]);
  const point = resumePoint(shown, exchanges, endedTurns);
  const reader = sealScope(owner);
  return { ...point, items: point.items.map((item) => withOpenSeal(item, (seal) => sealer.open(seal, reader))) };
}

/** Reasoning as the model is shown it; without a seal that cannot be opened any more. */
function withOpenSeal(item: ContextItem, open: (sealedText: string) => string | null): ContextItem {
  if (item.type !== "reasoning" || item.encrypted_content == null) return item;
  const { encrypted_content: _seal, ...visibleItem } = item;
  return withOpenSecret(item, open) ?? visibleItem;
}

/** The ids of hosted items are counted, so a restarted run gets the same ones. */
export function itemIds({ ids }: RunTask, usedCount: number): ToolScope["newItemId"] {
  let count = usedCount;
  return (prefix) => {
    count += 1;
    return idFromStem(prefix, ids, HOSTED_NUMBER_FIRST + count - 1);
  };
}

/** Decides where the loop continues, from the shown output, the started calls, and the completed turns. */
export function resumePoint(
  answer: ShownAnswer,
  exchanges: readonly KnownExchange[],
  endedTurns: readonly TurnInLedger[],
): ResumePoint {
  const { output, open } = answer;
  const exchangesById = new Map(exchanges.map((exchange) => [exchange.itemId, exchange]));
  const record = recordedTurn(answer, exchanges, endedTurns);
  const follows = followSteps(answer, exchangesById);
  const steps = [...follows, ...stepsOf(answer, { exchangesById, record, follows })];
  const shownItems = open?.type === "reasoning" ? [...output, open.item] : output;
  const items = [
    ...withoutProgramCalls(shownItems).flatMap((item) => contextItems(item, exchangesById)),
    ...refusedCalls(endedTurns, record),
  ];
  return {
    items,
    output: shownItems,
    citedBefore: Math.max(0, ...items.flatMap(numbersTold)),
    steps,
    ...wayOn(answer, record),
    isBetweenTurns: record?.isLatest === true,
    idsUsed: idsUsed([...output, ...steps.flatMap(followingOf), ...openHosted(open)], exchanges, record),
    calls: exchanges.length,
    turns: Math.max(0, ...endedTurns.map(({ number }) => number), ...exchanges.map(({ turn }) => turn)),
    usage: resumedUsage(withoutRecord(answer, record), exchanges, endedTurns),
    spentIds: new Set(exchanges.flatMap(({ approvalRequestId }) => approvalRequestId ?? [])),
    foundTools: [...output, ...steps.flatMap(followingOf)].flatMap((item) =>
      item.type === "tool_search_output" ? item.tools : [],
    ),
    lists: output.flatMap((item) => (item.type === "mcp_list_tools" && item.error == null ? [item] : [])),
  };
}

interface StepSources {
  readonly exchangesById: ReadonlyMap<string, KnownExchange>;
  readonly record: RecordedTurn | null;
  readonly follows: readonly ResumeStep[];
}

/** The steps for the open item, for the rest of the recorded turn, and for calls whose items were not shown. */
function stepsOf(
  { output, open }: ShownAnswer,
  { exchangesById, record, follows }: StepSources,
): readonly ResumeStep[] {
  const hostedItem = open?.type === "hosted" ? open.item : null;
  const isFollowing = follows.some((step) => step.type === "follows" && step.last.id === hostedItem?.id);
  const isDone = isFollowing || record?.takesOpen === true;
  const decidedIds = new Set(record?.callItemIds);
  const shownIds = new Set([...output.map(({ id }) => id), hostedItem?.id]);
  const unshown = [...exchangesById.values()]
    .filter(({ itemId }) => !shownIds.has(itemId) && !decidedIds.has(itemId))
    .toSorted((one, other) => orderOf(one) - orderOf(other));
  return [
    ...(hostedItem === null || isDone ? [] : [openStep(hostedItem, exchangesById.get(hostedItem.id ?? ""))]),
    ...(record?.steps ?? []),
    ...unshown.flatMap(unshownStep),
  ];
}

/** The part of an answer that belongs to no recorded turn, as far as known from the last of them. */
function withoutRecord(answer: ShownAnswer, record: RecordedTurn | null): ShownAnswer {
  if (record === null) return answer;
  const { output, open } = answer;
  return { ...answer, output: output.slice(record.place.end), open: record.takesOpen ? null : open };
}

/** How the loop continues after the steps. */
function wayOn(
  { output, open }: ShownAnswer,
  record: RecordedTurn | null,
): Pick<ResumePoint, "open" | "endsOpen" | "end"> {
  const isOpenDone = record?.takesOpen === true;
  const openItem = isOpenDone || open?.type === "hosted" ? null : open;
  const end = record?.end ?? endAfter(output.slice(record?.place.end ?? 0), isOpenDone ? null : open);
  if (end === null && openItem !== null && openItem.type !== "reasoning")
    return { open: openItem, endsOpen: false, end };
  const endsWell = openItem === null || (openItem.type === "call" && isWholeCall(openItem));
  return { open: null, endsOpen: !endsWell, end };
}

/**
 * A turn that broke off after it had asked the client for something is not retried: the response ends with this
 * request. The same applies after a compaction, which begins only when the answer is complete.
 */
function endAfter(output: readonly OutputItem[], open: OpenItem | null): TurnFinish | null {
  const isAtEnd = output.some((item) => isClientsTurn(item) || item.type === "compaction");
  return isAtEnd || (open !== null && asksApproval(open)) || (open?.type === "call" && isWholeCall(open))
    ? "stop"
    : null;
}

/** Whether nothing can be added to the arguments of a call. */
export function isWholeCall({ kind, text }: UnfinishedCall): boolean {
  return kind === "function" && isRecord(jsonOrUndefined(text));
}

function openHosted(open: OpenItem | null): readonly HostedItem[] {
  return open?.type === "hosted" ? [open.item] : [];
}

function idsUsed(
  items: readonly OutputItem[],
  exchanges: readonly KnownExchange[],
  record: RecordedTurn | null,
): number {
  const followers = exchanges.flatMap(({ result }) => result?.following ?? []);
  const ids = [
    ...[...items, ...followers].map(({ id }) => id ?? ""),
    ...exchanges.map(({ itemId }) => itemId),
    ...(record?.callItemIds ?? []),
  ];
  return Math.max(0, ...ids.map((id) => (numberOfId(id) ?? 0) - HOSTED_NUMBER_FIRST + 1));
}

function orderOf({ itemId }: KnownExchange): number {
  return numberOfId(itemId) ?? 0;
}

function contextItems(item: OutputItem, exchangesById: ReadonlyMap<string, KnownExchange>): readonly ContextItem[] {
  if (item.type === "message") return item.status === "incomplete" ? [] : [item];
  if (item.type === "reasoning" || item.type === "program" || item.type === "program_output") return [item];
  const exchange = exchangesById.get(item.id ?? "");
  return exchange === undefined ? [] : exchangeItems(exchange);
}

/** The calls that were not run and have no items, except for those of a continued turn. */
function refusedCalls(endedTurns: readonly TurnInLedger[], record: RecordedTurn | null): readonly ContextItem[] {
  const over = record?.isLatest === true ? endedTurns.slice(0, -1) : endedTurns;
  return over.flatMap(({ decision }) =>
    (decision?.parts ?? []).flatMap((part): readonly ContextItem[] => {
      if (part.type !== "call" || part.refusal === null) return [];
      const { callId, name, server, arguments: args, refusal } = part;
      return [
        { type: "hosted_call", callId, name, server, arguments: args },
        { type: "hosted_output", callId, output: refusal, parts: [] },
      ];
    }),
  );
}

/** A number invented by a page only skips numbers. */
function numbersTold(item: ContextItem): readonly number[] {
  if (item.type !== "hosted_output") return [];
  return Array.from(item.output.matchAll(/\[(?:web|file):(\d{1,6})\]/g), ([, number]) => Number(number));
}

/** The unshown items that follow completely shown calls. */
function followSteps(
  { output, open }: ShownAnswer,
  exchangesById: ReadonlyMap<string, KnownExchange>,
): readonly Extract<ResumeStep, { type: "follows" }>[] {
  const whole = new Set(output.map(({ id }) => id));
  const openId = open?.type === "hosted" ? open.item.id : undefined;
  return output
    .flatMap(({ id }) => exchangesById.get(id ?? "")?.result?.following ?? [])
    .filter(({ id }) => !whole.has(id))
    .map((last) => ({ type: "follows", first: last.id === openId ? null : firstOfFollowing(last), last }));
}
