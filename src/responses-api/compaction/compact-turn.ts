import { estimateTokens } from "../../runs/index.ts";
import type { ModelEvent, ModelRequest, ModelUsage } from "../../runs/ports.ts";
import { AnswerItems } from "./answer-items.ts";
import type { CompactedContext } from "./compacted-context.ts";
import { readSummary, type Summary } from "./summary-turn.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

/** What the compaction of one turn is made with. */
export interface TurnCompaction {
  /** Seals what a compaction item stands for. */
  readonly seal: (context: CompactedContext) => string;
  /** Has the model sum up what it was asked with these items after it. */
  readonly summarize: (items: ModelRequest["items"]) => Promise<Summary>;
  /** Tokens of context and answer from which on the context is compacted. */
  readonly threshold: number;
  /** Stands in where the model server counts no tokens. */
  readonly inputTokensEstimate: number;
  /** Told why a compaction was not made; the answer does not suffer from it. */
  readonly onFault: (fault: unknown) => void;
  /** Aborts what `summarize` does. */
  readonly signal: AbortSignal;
}

/**
 * The turn, and after its answer a compaction of the whole context where that has grown to the threshold. An answer
 * that was cut short, or a summary that cannot be made, leaves the turn as it is. The end of the turn waits for the
 * compaction.
 */
export async function* compactTurn(turn: Turn, compaction: TurnCompaction): AsyncGenerator<readonly ModelEvent[]> {
  const answer = new AnswerItems();
  const held: ModelEvent[] = [];
  let usage: ModelUsage | null = null;
  for await (const batch of turn) {
    const shown: ModelEvent[] = [];
    for (const event of batch) {
      if (event.type === "usage") usage = event.usage;
      if (event.type === "finished") held.push(event);
      else shown.push(answer.hear(event));
    }
    if (shown.length > 0) yield shown;
  }
  const isWhole = held.some((event) => event.type === "finished" && event.reason === "stop");
  if (isWhole && contextTokens(usage, answer, compaction) >= compaction.threshold) {
    yield [{ type: "message_finished" }]; // Its reader need not wait for the summary.
    const made = await compactionOf(answer, compaction);
    if (made !== null) held.unshift(made);
  }
  if (held.length > 0) yield held;
}

/**
 * In place of the model's answer, which is a summary, the compaction made of it: what a `compaction_trigger` asks for.
 */
export async function* turnIntoCompaction(
  turn: Turn,
  seal: TurnCompaction["seal"],
): AsyncGenerator<readonly ModelEvent[]> {
  const { text, usage } = await readSummary(turn);
  const encryptedContent = seal({ summary: text, keeps: "user_messages", calls: [] });
  yield [
    { type: "compaction", encryptedContent },
    ...(usage === null ? [] : [{ type: "usage" as const, usage }]),
    { type: "finished", reason: "stop" },
  ];
}

function contextTokens(usage: ModelUsage | null, answer: AnswerItems, compaction: TurnCompaction): number {
  if (usage !== null) return usage.inputTokens + usage.outputTokens;
  return compaction.inputTokensEstimate + estimateTokens(answer.characters);
}

/**
 * A model cannot be shown calls without outputs, so it sums up what came before them, and they are kept as they are.
 */
async function compactionOf(answer: AnswerItems, compaction: TurnCompaction): Promise<ModelEvent | null> {
  const { messages, calls } = answer.take();
  try {
    const { text } = await compaction.summarize(messages);
    return { type: "compaction", encryptedContent: compaction.seal({ summary: text, keeps: "nothing", calls }) };
  } catch (fault) {
    if (!compaction.signal.aborted) compaction.onFault(fault);
    return null;
  }
}
