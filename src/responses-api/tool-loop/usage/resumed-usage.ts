import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolUsage } from "@antiphon/domain/hosted-tool.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { KnownExchange, TurnInLedger } from "@antiphon/domain/tool-ledger.ts";
import type { ShownAnswer } from "../../../runs/index.ts";

/** The usage of a response before a crash. */
export interface ResumedUsage {
  /** The usage of the completed turns, oldest first. */
  readonly turns: readonly ModelUsage[];
  /** The characters of each interrupted turn, whose usage no model server has reported. */
  readonly cutCharacters: readonly number[];
  readonly tools: readonly ToolUsage[];
}

/** Sums up the stored usage. Interrupted turns without any output are unknown. */
export function resumedUsage(
  shownAnswer: ShownAnswer,
  exchanges: readonly KnownExchange[],
  endedTurns: readonly TurnInLedger[],
): ResumedUsage {
  const numbers = new Set(endedTurns.map(({ number }) => number));
  const charactersByTurn = charactersOfTurns(shownAnswer, exchanges);
  return {
    turns: endedTurns.map(({ usage }) => usage),
    cutCharacters: [...charactersByTurn].flatMap(([turn, characters]) => (numbers.has(turn) ? [] : [characters])),
    tools: exchanges.flatMap(({ result }) => result?.usage ?? []),
  };
}

/** The characters of texts and calls in each turn. Text before a call belongs to the call's turn. */
function charactersOfTurns(
  { output, open }: ShownAnswer,
  exchanges: readonly KnownExchange[],
): ReadonlyMap<number, number> {
  const characters = new Map<number, number>();
  const add = (turn: number, more: number): void => void characters.set(turn, (characters.get(turn) ?? 0) + more);
  const turns = new Map(exchanges.map(({ itemId, turn }) => [itemId, turn]));
  for (const { turn, name, arguments: args } of exchanges) if (turn > 0) add(turn, name.length + args.length);
  let turn = lastTurn(output, exchanges);
  if (open?.type === "message" || open?.type === "call") add(turn, open.text.length);
  for (const item of output.toReversed()) {
    const length = saidIn(item);
    if (length !== null) add(turn, length);
    else turn = turns.get(item.id ?? "") ?? turn;
  }
  return characters;
}

/** The turn of the end of the output: the turn of a call with an open item, otherwise the next one. */
function lastTurn(output: readonly OutputItem[], exchanges: readonly KnownExchange[]): number {
  const endedIds = new Set(output.map(({ id }) => id));
  const latest = Math.max(0, ...exchanges.map(({ turn }) => turn));
  const isOpen = exchanges.some(({ itemId, turn }) => turn === latest && !endedIds.has(itemId));
  return isOpen ? latest : latest + 1;
}

/** The characters that the model wrote in an item; null for a tool's item. */
function saidIn(item: OutputItem): number | null {
  if (item.type === "function_call") return item.name.length + item.arguments.length;
  if (item.type === "custom_tool_call") return item.name.length + item.input.length;
  if (item.type !== "message" && item.type !== "reasoning") return null;
  const parts = item.type === "message" ? item.content : [...item.summary, ...(item.content ?? [])];
  let characters = 0;
  for (const part of parts) characters += "text" in part ? part.text.length : 0;
  return characters;
}
