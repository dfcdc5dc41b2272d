import { createHash } from "node:crypto";
import { assertNever } from "@antiphon/base/assert.ts";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { Call, CallOutput, HistoryStep } from "../../context/history.ts";
import { pairOutputs } from "../../context/pair-outputs.ts";
import { invalidInput } from "../../model-server/errors/model-errors.ts";
import type { MessagesBlock, MessagesTurn, TextBlock, ThinkingBlock, ToolResultBlock } from "./messages-wire.ts";
import { shownBlocks, textBlocks } from "./shown-blocks.ts";

/** One step of a conversation. Reasoning is a step if its model server can read it again. */
export type TurnStep =
  | Exclude<HistoryStep, { type: "reasoning" }>
  | { readonly type: "thinking"; readonly block: ThinkingBlock };

export interface ArrangedTurns {
  /** The instructions, and the system and developer messages before the first turn. */
  readonly system: readonly string[];
  readonly messages: readonly MessagesTurn[];
  /** The tools that were called. */
  readonly calledNames: ReadonlySet<string>;
}

/** Said for the user where the API wants the user to speak: at the beginning, and before each answer. */
const GO_ON: TextBlock = { type: "text", text: "Continue." };
const CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Arranges the steps of a conversation as the API requires: turns of users and of the model by turns, and the results
 * of calls first in the turn that follows them. System messages within the conversation become texts of the user, in
 * tags, because not every model of this API takes them as messages.
 */
export async function arrangeTurns(instructions: string | null, steps: readonly TurnStep[]): Promise<ArrangedTurns> {
  const firstTurn = steps.findIndex((step) => step.type !== "instruction");
  const leading = firstTurn === -1 ? steps : steps.slice(0, firstTurn);
  const system = [instructions ?? "", ...leading.map((step) => (step.type === "instruction" ? step.text : ""))];
  const history = steps.filter((step) => step.type !== "thinking");
  const arrangement = new Arrangement(await pairOutputs(history));
  await eachInSlices(steps.slice(leading.length), (step) => arrangement.add(step));
  return {
    system: system.filter((text) => text.trim() !== ""),
    messages: arrangement.end(),
    calledNames: arrangement.calledNames,
  };
}

interface OpenTurn {
  readonly role: MessagesTurn["role"];
  readonly content: MessagesBlock[];
}

class Arrangement {
  readonly calledNames = new Set<string>();
  readonly #outputs: ReadonlyMap<Call, CallOutput>;
  readonly #placedOutputs = new Set<CallOutput>();
  readonly #callIds = new Set<string>();
  readonly #turns: OpenTurn[] = [];
  /** The blocks of the model's turn, and the results of its calls. */
  #said: MessagesBlock[] = [];
  #results: ToolResultBlock[] = [];

  constructor(outputs: ReadonlyMap<Call, CallOutput>) {
    this.#outputs = outputs;
  }

  add(step: TurnStep): void {
    switch (step.type) {
      case "instruction":
        return this.#hear(textBlocks(`<system>\n${step.text}\n</system>`));
      case "user":
        return this.#hear(shownBlocks(step.content));
      case "assistant_text":
        this.#said.push(...textBlocks(step.text));
        return;
      case "thinking":
        this.#said.push(step.block);
        return;
      case "call":
        return this.#addCall(step);
      case "call_output":
        if (!this.#placedOutputs.has(step))
          throw invalidInput(`No tool call found for function call output with call_id ${step.callId}.`);
        return this.#endAnswer();
      default:
        return assertNever(step);
    }
  }

  /** All turns. The last one is the user's. */
  end(): readonly MessagesTurn[] {
    this.#endAnswer();
    if (this.#turns.at(-1)?.role !== "user") this.#turn("user").push(GO_ON);
    return this.#turns;
  }

  #hear(blocks: readonly MessagesBlock[]): void {
    this.#endAnswer();
    if (blocks.length > 0) this.#turn("user").push(...blocks);
  }

  /** Adds the model's turn and the results of its calls, wherever they were in the history. */
  #endAnswer(): void {
    // Thinking without anything after it is useless to a model, and refused.
    const end = this.#said.findLastIndex(({ type }) => !type.endsWith("thinking")) + 1;
    const said = this.#said.slice(0, end);
    const results = this.#results;
    this.#said = [];
    this.#results = [];
    if (said.length === 0) return;
    if (this.#turns.length === 0) this.#turn("user").push(GO_ON);
    this.#turn("assistant").push(...said);
    if (results.length > 0) this.#turn("user").push(...results);
  }

  /** The blocks of the last turn if it has this role, otherwise those of a new one. */
  #turn(role: MessagesTurn["role"]): MessagesBlock[] {
    const last = this.#turns.at(-1);
    if (last?.role === role) return last.content;
    const turn: OpenTurn = { role, content: [] };
    this.#turns.push(turn);
    return turn.content;
  }

  #addCall(step: Call): void {
    const output = this.#outputs.get(step);
    if (output === undefined) throw invalidInput(`No tool output found for function call ${step.callId}.`);
    this.#placedOutputs.add(output);
    this.calledNames.add(step.name);
    const id = this.#freeId(step.callId);
    this.#said.push({ type: "tool_use", id, name: step.name, input: callInput(step.arguments) });
    this.#results.push({ type: "tool_result", tool_use_id: id, content: resultContent(output) });
  }

  /** Ids are unique in a request, and of few characters. */
  #freeId(callId: string): string {
    const plain = CALL_ID.test(callId) ? callId : `call_${shortHash(callId)}`;
    let id = plain;
    for (let count = 2; this.#callIds.has(id); count += 1) id = `call_${shortHash(`${plain} ${count}`)}`;
    this.#callIds.add(id);
    return id;
  }
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/** Arguments that are no JSON object are shown as this API shows them. */
function callInput(text: string): Readonly<Record<string, unknown>> {
  const input = jsonOrUndefined(text);
  return isRecord(input) ? input : { INVALID_JSON: text };
}

function resultContent({ text, parts }: CallOutput): ToolResultBlock["content"] {
  return parts.length === 0 ? text : [...textBlocks(text), ...shownBlocks(parts)];
}
