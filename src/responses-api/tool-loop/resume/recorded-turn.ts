import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type {
  DecidedCall,
  DecidedPart,
  KnownExchange,
  TurnDecision,
  TurnFinish,
  TurnInLedger,
} from "@antiphon/domain/tool-ledger.ts";
import type { OpenItem, ShownAnswer } from "../../../runs/index.ts";
import { isClientsTurn } from "../hosted-run.ts";
import { TurnItems } from "../turn/turn-items.ts";
import { type PlacedTurn, placeTurn, saidText, shownParts } from "./place-turn.ts";
import type { ResumeStep } from "./resume-steps.ts";

/** The last turn with a recorded decision, and its remaining steps. */
export interface RecordedTurn {
  readonly place: PlacedTurn;
  /** Whether nothing of a later turn was shown or called. */
  readonly isLatest: boolean;
  readonly steps: readonly ResumeStep[];
  /** Whether one of the steps continues the open item. */
  readonly takesOpen: boolean;
  /** The ids of the items of its calls. */
  readonly callItemIds: readonly string[];
  /** How the response ends after the steps; null if the model is called again, or if a call may ask the client. */
  readonly end: TurnFinish | null;
}

type Said = Extract<DecidedPart, { type: "said" }>;
type DecidedTurn = TurnInLedger & { readonly decision: TurnDecision };

/** The remaining steps of the last recorded turn; null if there is none. */
export function recordedTurn(
  { output, open }: ShownAnswer,
  exchanges: readonly KnownExchange[],
  endedTurns: readonly TurnInLedger[],
): RecordedTurn | null {
  const turns = endedTurns.flatMap((turn): readonly DecidedTurn[] =>
    turn.decision === null ? [] : [{ ...turn, decision: turn.decision }],
  );
  const last = turns.at(-1);
  if (last === undefined || last.number < Math.max(...endedTurns.map(({ number }) => number))) return null;
  const { number, decision } = last;
  const callItemIds = decision.parts.flatMap((part) => (part.type === "call" ? (part.itemId ?? []) : []));
  const first = startOf(output, { number, exchanges, earlier: turns.slice(0, -1) });
  const visible = visibleItems(output, first, exchanges);
  const parts = shownParts(decision.parts);
  const entry = placeTurn(
    parts,
    visible.map(({ item }) => item),
    open,
  );
  const place = { ...entry, end: visible[entry.end]?.index ?? output.length };
  const clientItems = output.slice(first, place.end).filter(isClientsTurn);
  const nextHasBegun =
    exchanges.some(({ turn }) => turn > number) ||
    (entry.shownCount === parts.length && (place.end < output.length || (open !== null && !asksApproval(open))));
  if (nextHasBegun) return { place, isLatest: false, steps: [], takesOpen: false, callItemIds, end: null };
  const exchangesById = new Map(exchanges.map((exchange) => [exchange.itemId, exchange]));
  const steps = stepsLeft(decision.parts, { entry, open, exchangesById, turn: number, clientItems });
  return {
    place,
    isLatest: true,
    steps,
    takesOpen: entry.hasOpen,
    callItemIds,
    end: turnFinish(decision, clientItems),
  };
}

function turnFinish({ finish, parts }: TurnDecision, clientItems: readonly OutputItem[]): TurnFinish | null {
  if (finish !== "stop") return finish;
  const calls = parts.filter(({ type }) => type === "call");
  const asksClient = clientItems.length > 0 || parts.some((part) => part.type === "said" && part.item === "call");
  return calls.length === 0 || asksClient ? "stop" : null;
}

interface Earlier {
  readonly number: number;
  readonly exchanges: readonly KnownExchange[];
  readonly earlier: readonly DecidedTurn[];
}

/** The start of the items of this turn and of its attempts: after the calls of earlier turns. */
function startOf(output: readonly OutputItem[], { number, exchanges, earlier }: Earlier): number {
  const before = new Set([
    ...earlier.flatMap(({ decision }) => decision.parts.map((part) => (part.type === "call" ? part.itemId : null))),
    ...exchanges.flatMap(({ turn, itemId, result }) =>
      turn < number ? [itemId, ...(result?.following ?? []).map(({ id }) => id ?? null)] : [],
    ),
  ]);
  return output.findLastIndex(({ id }) => id !== undefined && before.has(id)) + 1;
}

/** The items that the model wrote, without items that follow a call or request an approval. */
function visibleItems(output: readonly OutputItem[], first: number, exchanges: readonly KnownExchange[]) {
  const following = new Set(exchanges.flatMap(({ result }) => (result?.following ?? []).map(({ id }) => id)));
  return output
    .map((item, index) => ({ item, index }))
    .filter(({ item, index }) => index >= first && !following.has(item.id) && !isAskedAtOnce(item));
}

/** Whether the open item requests an approval. It is complete. */
export function asksApproval(open: OpenItem): boolean {
  return open.type === "hosted" && open.item.type === "mcp_approval_request";
}

/** An item that asks the client begins and ends when its call runs, not when the model writes it. */
function isAskedAtOnce(item: OutputItem): boolean {
  return item.type === "mcp_approval_request" || item.type === "computer_call" || item.type === "local_shell_call";
}

interface TurnLeft {
  readonly entry: PlacedTurn;
  readonly open: OpenItem | null;
  readonly exchangesById: ReadonlyMap<string, KnownExchange>;
  readonly turn: number;
  readonly clientItems: readonly OutputItem[];
}

function stepsLeft(
  parts: readonly DecidedPart[],
  { entry, open, exchangesById, turn, clientItems }: TurnLeft,
): readonly ResumeStep[] {
  let index = -1;
  return parts.flatMap((part): readonly ResumeStep[] => {
    const hasItem = part.type === "said" || part.itemId !== null;
    if (hasItem) index += 1;
    if (hasItem && index < entry.shownCount) return [];
    const isOpen = hasItem && index === entry.shownCount && entry.hasOpen;
    if (part.type === "said") return [saidStep(part, isOpen ? open : null)];
    if (!hasItem && clientItems.some((item) => isAskedBy(item, part))) return [];
    return [{ type: "planned", call: part, exchange: exchangesById.get(part.itemId ?? "") ?? null, turn, isOpen }];
  });
}

function isAskedBy(item: OutputItem, { callId, name, server, arguments: args }: DecidedCall): boolean {
  if (item.type === "mcp_approval_request")
    return item.name === name && item.server_label === server && item.arguments === args;
  return "call_id" in item && item.call_id === callId;
}

/** The unshown part of an item. A part that cannot follow the shown part becomes its own item. */
function saidStep(part: Said, open: OpenItem | null): ResumeStep {
  const items = new TurnItems();
  for (const event of part.events) items.add(event);
  const rest = open === null ? null : restOf(part, open);
  const events = rest ?? [...(open === null ? [] : [{ type: "turn_cut" as const }]), ...part.events];
  return { type: "said", events: [...events, ...END_OF[part.item]], items: items.take() };
}

const END_OF: Readonly<Record<Said["item"], readonly ModelEvent[]>> = {
  message: [{ type: "message_finished" }],
  reasoning: [{ type: "turn_cut" }],
  call: [],
};

/** Null if it cannot follow the shown part. Reasoning ends where it broke off. */
function restOf({ item, events }: Said, open: OpenItem): readonly ModelEvent[] | null {
  if (item === "reasoning") return [];
  const whole = saidText(events);
  if (open.type === "message" && open.isPlain && whole.startsWith(open.text))
    return [{ type: "text_delta", text: whole.slice(open.text.length) }];
  if (open.type === "call" && whole.startsWith(open.text))
    return [{ type: "call_delta", text: whole.slice(open.text.length) }, { type: "call_finished" }];
  return null;
}
