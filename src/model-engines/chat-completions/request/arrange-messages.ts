import { assertNever } from "@antiphon/base/assert.ts";
import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { ChatMessage, ChatPart, ChatToolCall } from "../../context/chat-wire.ts";
import { type Call, type CallOutput, type HistoryStep, shortCallId } from "../../context/history.ts";
import { pairOutputs } from "../../context/pair-outputs.ts";
import { invalidInput } from "../../model-server/errors/model-errors.ts";
import type { BackendProfile } from "../profile.ts";

/** The reference's chat completions refuse longer call ids. */
const CALL_ID_CHARS_MAX = 40;

/**
 * Arranges the steps of a conversation as chat templates require: one system message first, text and calls of an
 * assistant turn in one message, and the outputs of its calls directly after it.
 */
export async function arrangeMessages(
  instructions: string | null,
  steps: readonly HistoryStep[],
  profile: BackendProfile,
): Promise<ChatMessage[]> {
  const firstTurn = steps.findIndex((step) => step.type !== "instruction");
  const leading = firstTurn === -1 ? steps : steps.slice(0, firstTurn);
  const system = [instructions ?? "", ...leading.map((step) => (step.type === "instruction" ? step.text : ""))].filter(
    (text) => text !== "",
  );
  const arrangement = new Arrangement(await pairOutputs(steps), profile);
  if (system.length > 0) arrangement.messages.push({ role: "system", content: system.join("\n\n") });
  await eachInSlices(steps.slice(leading.length), (step) => arrangement.add(step));
  arrangement.endAssistantTurn();
  return arrangement.messages;
}

interface AssistantTurn {
  /** Null if the turn has no text. */
  text: string | null;
  reasoning: string | null;
  readonly calls: ChatToolCall[];
  /** The outputs of `calls`, in the same order. */
  readonly outputs: CallOutput[];
}

class Arrangement {
  readonly messages: ChatMessage[] = [];
  readonly #profile: BackendProfile;
  readonly #outputs: ReadonlyMap<Call, CallOutput>;
  readonly #placedOutputs = new Set<CallOutput>();
  #turn: AssistantTurn | null = null;

  constructor(outputs: ReadonlyMap<Call, CallOutput>, profile: BackendProfile) {
    this.#profile = profile;
    this.#outputs = outputs;
  }

  add(step: HistoryStep): void {
    switch (step.type) {
      case "instruction":
        this.endAssistantTurn();
        this.messages.push({ role: this.#profile.lateSystemRole, content: step.text });
        return;
      case "user":
        this.endAssistantTurn();
        this.messages.push({ role: "user", content: step.content });
        return;
      case "assistant_text":
        this.#say(step.text);
        return;
      case "reasoning":
        this.#think(step.text);
        return;
      case "call":
        this.#addCall(step);
        return;
      case "call_output":
        if (!this.#placedOutputs.has(step))
          throw invalidInput(`No tool call found for function call output with call_id ${step.callId}.`);
        this.endAssistantTurn();
        return;
      default:
        return assertNever(step);
    }
  }

  /** Adds the turn's message and the outputs of its calls, wherever they were in the history. */
  endAssistantTurn(): void {
    const turn = this.#turn;
    this.#turn = null;
    // Reasoning without text or calls is useless to a model.
    if (turn === null || (turn.text === null && turn.calls.length === 0)) return;
    const reasoning = this.#profile.acceptsReasoning ? (turn.reasoning ?? "") : "";
    this.messages.push({
      role: "assistant",
      content: turn.text ?? this.#profile.contentOfCalls,
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(turn.calls.length === 0 ? {} : { tool_calls: turn.calls }),
    });
    for (const output of turn.outputs)
      this.messages.push({ role: "tool", tool_call_id: wireCallId(output.callId), content: shownText(output) });
    const parts = turn.outputs.flatMap(shownParts);
    if (parts.length > 0) this.messages.push({ role: "user", content: parts });
  }

  #assistant(): AssistantTurn {
    this.#turn ??= { text: null, reasoning: null, calls: [], outputs: [] };
    return this.#turn;
  }

  #say(text: string): void {
    const turn = this.#assistant();
    turn.text = turn.text === null ? text : `${turn.text}\n\n${text}`;
  }

  #think(reasoning: string): void {
    const turn = this.#assistant();
    turn.reasoning = turn.reasoning === null ? reasoning : `${turn.reasoning}\n${reasoning}`;
  }

  #addCall(step: Call): void {
    const output = this.#outputs.get(step);
    if (output === undefined) throw invalidInput(`No tool output found for function call ${step.callId}.`);
    this.#placedOutputs.add(output);
    const turn = this.#assistant();
    turn.calls.push({
      id: wireCallId(step.callId),
      type: "function",
      function: { name: step.name, arguments: step.arguments },
    });
    turn.outputs.push(output);
  }
}

function shownText({ text, partsNote }: CallOutput): string {
  return [text, partsNote ?? ""].filter((line) => line !== "").join("\n");
}

function shownParts(output: CallOutput): readonly ChatPart[] {
  if (output.parts.length === 0) return [];
  return [{ type: "text", text: `Output of the tool call ${wireCallId(output.callId)}:` }, ...output.parts];
}

function wireCallId(callId: string): string {
  return shortCallId(callId, CALL_ID_CHARS_MAX);
}
