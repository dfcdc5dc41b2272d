import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { estimateTokens } from "../../runs/index.ts";
import { AnswerItems } from "./answer-items.ts";
import type { CompactedContext } from "./compacted-context.ts";
import { readSummary, type Summary } from "./summary-turn.ts";

type Usage = Extract<ModelEvent, { type: "usage" }>;
type Turn = AsyncIterable<readonly ModelEvent[]>;

/** The settings and functions for the compaction of one turn. */
export interface TurnCompaction {
  /** Creates the `encrypted_content` of a compaction item. */
  readonly seal: (context: CompactedContext) => string;
  /** Lets the model summarize the request it was sent, followed by these items. */
  readonly summarize: (items: ModelRequest["items"]) => Promise<Summary>;
  /** Compacts when context and answer together have at least this many tokens. */
  readonly threshold: number;
  /** Used if the model server reports no token counts. */
  readonly inputTokensEstimate: number;
  /** Called with the reason when a compaction fails. The answer is not affected. */
  readonly onFault: (fault: unknown) => void;
  /** Aborted when nobody needs the compaction any more; faults are then not reported. */
  readonly signal: AbortSignal;
}

/**
 * Adds a compaction of the whole context after the answer, if the context has reached the threshold. Adds none if the
 * answer was cut short or the summary fails. The end of the turn waits for the compaction.
 */
export async function* compactTurn(turn: Turn, compaction: TurnCompaction): AsyncGenerator<readonly ModelEvent[]> {
  const answer = new AnswerItems();
  const lastEvents: ModelEvent[] = [];
  let usage: Usage | null = null;
  for await (const batch of turn) {
    const output: ModelEvent[] = [];
    for (const event of batch) {
      if (event.type === "usage") usage = event;
      if (event.type === "finished") lastEvents.push(event);
      else output.push(answer.add(event));
    }
    if (output.length > 0) yield output;
  }
  const isWhole = lastEvents.some((event) => event.type === "finished" && event.reason === "stop");
  if (isWhole && contextTokens(usage, answer, compaction) >= compaction.threshold) {
    yield [{ type: "message_finished" }]; // The client need not wait for the summary to see the whole message.
    const compactionEvent = await compactionOf(answer, compaction);
    if (compactionEvent !== null) lastEvents.unshift(compactionEvent);
  }
  if (lastEvents.length > 0) yield lastEvents;
}

/** Replaces the model's answer, a summary, by a compaction with this summary. Serves a `compaction_trigger`. */
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

function contextTokens(usage: Usage | null, answer: AnswerItems, compaction: TurnCompaction): number {
  if (usage !== null) return usage.contextTokens ?? usage.usage.inputTokens + usage.usage.outputTokens;
  return compaction.inputTokensEstimate + estimateTokens(answer.characters);
}

/**
 * Models refuse calls without outputs, so the summary covers only what came before the calls; the calls are kept in
 * full.
 */
async function compactionOf(answer: AnswerItems, compaction: TurnCompaction): Promise<ModelEvent | null> {
  const { items, calls } = answer.take();
  try {
    const { text } = await compaction.summarize(items);
    return { type: "compaction", encryptedContent: compaction.seal({ summary: text, keeps: "nothing", calls }) };
  } catch (fault) {
    if (!compaction.signal.aborted) compaction.onFault(fault);
    return null;
  }
}
