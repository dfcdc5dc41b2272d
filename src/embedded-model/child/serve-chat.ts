import { randomUUID } from "node:crypto";
import { type AnswerEvent, type AnswerFinish, compileGrammars, TurnWriter } from "./answer/answer-turn.ts";
import { Generation } from "./answer/generation.ts";
import type { Slot, Slots } from "./answer/slots.ts";
import type { EngineModel } from "./engine-api.ts";
import type { LoadedModel } from "./loaded-model.ts";
import { TemplateUnusable } from "./prompt/chat-template.ts";
import type { ChatTurn, PromptPart } from "./prompt/chat-turn.ts";
import { RequestRefused, tooLongForWindow } from "./request-refused.ts";

/** Where an answer goes. */
export interface AnswerSink {
  /** The turn has its slot: what follows is the answer. */
  start(): void;
  tell(event: AnswerEvent): void;
  /** Nothing is to be told yet, but work goes on. */
  tick(): void;
}

export interface AnswerEnd {
  readonly finish: AnswerFinish;
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  };
  /** In milliseconds: until the prompt was read, and from then on. */
  readonly timings: { readonly prompt_ms: number; readonly predicted_ms: number };
}

/** The tokens of a turn's prompt. Throws `RequestRefused` if the model has no template or it refuses the messages. */
export function turnTokens(
  { model, template }: Pick<LoadedModel, "model" | "template">,
  turn: Pick<ChatTurn, "messages" | "functions" | "choice" | "format" | "beginning">,
): readonly number[] {
  if (typeof template === "string") throw new RequestRefused(template, { param: "messages" });
  return promptTokens(model, partsOf(template, turn));
}

function partsOf(
  template: Exclude<LoadedModel["template"], string>,
  turn: Parameters<typeof turnTokens>[1],
): readonly PromptPart[] {
  try {
    return template.promptParts(turn);
  } catch (error) {
    if (!(error instanceof TemplateUnusable)) throw error;
    throw new RequestRefused(`The chat template of the model ${error.message}.`, { param: "messages" });
  }
}

/** Answers one turn. Rejects with `RequestRefused`, or with the signal's reason. */
export async function answerTurn(
  runtime: LoadedModel,
  slots: Slots,
  { turn, sink, signal }: { readonly turn: ChatTurn; readonly sink: AnswerSink; readonly signal: AbortSignal },
): Promise<AnswerEnd> {
  const prompt = turnTokens(runtime, turn);
  if (prompt.length >= runtime.window) throw tooLongForWindow(prompt.length, runtime.window);
  const grammars = await compileGrammars(runtime, turn);
  const slot = await slots.take(prompt, turn.caller, signal);
  try {
    sink.start();
    const startedMs = performance.now();
    const generation = await begin(runtime, slot, { prompt, turn, sink, signal });
    const readMs = performance.now();
    const writer = new TurnWriter(runtime, { turn, grammars, generation }, (event) => sink.tell(event));
    const finish = await writer.write();
    const { outputTokens, cachedTokens } = generation;
    return {
      finish,
      usage: {
        prompt_tokens: prompt.length,
        completion_tokens: outputTokens,
        total_tokens: prompt.length + outputTokens,
        prompt_tokens_details: { cached_tokens: cachedTokens },
      },
      timings: { prompt_ms: readMs - startedMs, predicted_ms: performance.now() - readMs },
    };
  } finally {
    slots.giveBack(slot);
  }
}

function begin(
  { model, window, stepTokens, newGrammarState, closing }: LoadedModel,
  { sequence }: Slot,
  { prompt, turn, sink, signal }: { prompt: readonly number[]; turn: ChatTurn; sink: AnswerSink; signal: AbortSignal },
): Promise<Generation> {
  const parts = { model, sequence, window, stepTokens, newGrammarState, closing, signal, onStep: () => sink.tick() };
  return Generation.begin(parts, prompt, turn.tokensMax);
}

export function newCompletionId(): string {
  return `chatcmpl-${randomUUID()}`;
}

type Tokenizer = Pick<EngineModel, "tokenize" | "tokens">;

/** The tokens of a prompt: markers of the template as special tokens, words never. */
function promptTokens(model: Tokenizer, parts: readonly PromptPart[]): readonly number[] {
  const tokens = joinedAlike(parts).flatMap(({ text, isTemplate }, place) =>
    place === 0 ? model.tokenize(text, isTemplate) : model.tokenize(text, isTemplate, "trimLeadingSpace"),
  );
  const { bos, shouldPrependBosToken } = model.tokens;
  return bos === null || !shouldPrependBosToken || tokens[0] === bos ? tokens : [bos, ...tokens];
}

/** Neighbours of one kind as one part, so that they are cut into tokens as one text. */
function joinedAlike(parts: readonly PromptPart[]): readonly PromptPart[] {
  const merger: PromptPart[] = [];
  for (const part of parts) {
    const before = merger.at(-1);
    if (before?.isTemplate === part.isTemplate)
      merger[merger.length - 1] = { text: before.text + part.text, isTemplate: part.isTemplate };
    else merger.push(part);
  }
  return merger;
}
