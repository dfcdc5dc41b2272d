import type { Tool } from "@antiphon/contracts/responses-api/types.ts";
import { mayChangeWorld, type ToolCall, type ToolOutcome, UNKNOWN_EFFECT } from "@antiphon/domain/hosted-tool.ts";
import type { BegunExchange, FinishedExchange, KnownExchange } from "@antiphon/domain/tool-ledger.ts";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import type { Sources } from "../citations/sources.ts";
import {
  brokenForm,
  type CallResult,
  endingEvents,
  exchangeOf,
  type MadeRun,
  outputOf,
  unknownResult,
} from "../hosted-run.ts";
import type { LoopRun, LoopServices } from "../loop-parts.ts";
import { returnsOutsideText } from "../offer-tools.ts";
import { cutOutput, fence } from "../results/fence.ts";
import type { ToolUsageSum } from "../usage/tool-usage.ts";
import { attemptOutcome, CallAttempts, interruptedAttempts } from "./call-attempts.ts";

type Told = Extract<ToolOutcome, { type: "told" }>;

export interface CallRecorderParts {
  readonly services: Pick<LoopServices, "tools" | "ledger" | "spending" | "observer">;
  readonly run: LoopRun;
  /** Calls that have ended add to the next three. */
  readonly sources: Sources;
  readonly foundTools: Tool[];
  readonly toolUsage: ToolUsageSum;
}

/** Stores in the ledger which calls begin and how they end, and shows their ends. */
export class CallRecorder {
  readonly #parts: CallRecorderParts;
  readonly #attempts: CallAttempts;

  constructor(parts: CallRecorderParts) {
    this.#parts = parts;
    this.#attempts = new CallAttempts(parts.services.tools.nodeName);
  }

  /** A crash interrupted this call, which runs again. */
  remember(exchange: KnownExchange): void {
    this.#attempts.remember(exchange);
  }

  /** Stores the result of a call that a crash interrupted and that stays as it is. Rejects like `ToolLedger.begin`. */
  async settle({ attempts, effect }: BegunExchange, result: FinishedExchange): Promise<void> {
    const { services, run } = this.#parts;
    if (mayChangeWorld(effect)) services.observer.noteEffect("unknown");
    await services.ledger?.finish(run.owner, run.responseId, result, interruptedAttempts(attempts));
  }

  /** Resolves once the beginning of an attempt is durable. Rejects like `ToolLedger.begin`. */
  async begin(job: MadeRun, call: ToolCall, itemId: string, args: string): Promise<void> {
    const { services, run } = this.#parts;
    const storing = call.effect === "none" ? null : run.storeNow();
    if (job.approvalRequestId !== null) await storing; // A run that cannot be stored uses no approval.
    const { ledger } = services;
    const attempts = this.#attempts.begin(itemId);
    const beginning =
      ledger === null
        ? this.#spendApproval(job)
        : ledger.begin(run.owner, run.responseId, exchangeOf(job, call, args, { itemId, attempts }));
    await Promise.all([storing, beginning]);
  }

  /**
   * Stores how an attempt came out if nobody knows after it whether the call has acted. Returns the number of attempts;
   * null if it is known. Rejects like `ToolLedger.begin`.
   */
  async noteUnsettled(job: MadeRun, call: ToolCall, args: string, outcome: ToolOutcome): Promise<number | null> {
    const { services, run } = this.#parts;
    if (call.item === null || !this.#attempts.isUnsettled(call.item.id, outcome)) return null;
    const { id: itemId } = call.item;
    const attempts = this.#attempts.end(itemId, attemptOutcome(outcome));
    await services.ledger?.begin(run.owner, run.responseId, exchangeOf(job, call, args, { itemId, attempts }));
    return attempts.length;
  }

  /** A call that is not stored uses its approval, too. */
  async #spendApproval({ approvalRequestId }: MadeRun): Promise<void> {
    const { services, run } = this.#parts;
    if (approvalRequestId !== null) await services.spending.spend(run.owner, run.responseId, approvalRequestId);
  }

  /** Stores the result, shows the end of the item, and returns the output for the model. */
  async end(job: MadeRun, call: ToolCall, args: string, outcome: ToolOutcome): Promise<CallResult> {
    const { place } = job;
    const { services, sources, foundTools: allFound, toolUsage } = this.#parts;
    if (outcome.type === "unknown") return await this.endUnknown(job, call, args);
    if (mayChangeWorld(call.effect)) services.observer.noteEffect(attemptOutcome(outcome));
    if (call.item !== null) this.#attempts.end(call.item.id, attemptOutcome(outcome));
    if (outcome.type === "asks" || outcome.type === "goes_on") {
      place.add(...endingEvents(job, outcome));
      return { output: null, asks: outcome.type === "asks", item: outcome.item };
    }
    const text = cutOutput(outcome.output, services.tools.limits.outputCharactersMax);
    if (outcome.type === "told") return await this.#endTold(job, call, args, { ...outcome, output: text });
    const { item, parts, following = [], foundTools = [], usage = null } = outcome;
    const shownText = returnsOutsideText(job.called.kind) ? fence(job.called.server ?? job.called.name, text) : text;
    const output = outputOf(job, shownText, parts);
    if (call.item === null) await this.begin(job, call, item.id, args);
    const lasts = following.map(({ last }) => last);
    const record = {
      itemId: item.id,
      item,
      output: shownText,
      parts,
      usage,
      outcome: "finished",
      following: lasts,
    } as const;
    await this.#keep(job, call, args, record);
    sources.add(outcome.sources);
    allFound.push(...foundTools);
    place.add(...endingEvents(job, outcome));
    if (usage !== null) place.add(toolUsage.add(usage));
    return { output, asks: outcome.asks === true, item };
  }

  /** Ends a call that may have taken effect like a crash would. */
  async endUnknown(job: MadeRun, call: ToolCall, args: string): Promise<CallResult> {
    const { view, place } = job;
    this.#parts.services.observer.noteEffect("unknown");
    if (view.item === null) return { output: outputOf(job, UNKNOWN_EFFECT), asks: false, item: null };
    this.#attempts.end(view.item.id, "unknown");
    const result = unknownResult(view.item, args);
    try {
      await this.#keep(job, call, args, result);
    } catch (fault) {
      if (fault instanceof RunLost) throw fault;
      this.#parts.run.listener.onFault(fault); // A call without a kept result is taken for unknown, too.
    }
    place.add({ type: "item_finished", item: result.item });
    return { output: outputOf(job, result.output), asks: false, item: result.item };
  }

  /** The arguments were wrong. If the item had begun, later turns show the model the current text. */
  async #endTold(job: MadeRun, call: ToolCall, args: string, outcome: Told): Promise<CallResult> {
    const { item } = job.view;
    const { output } = outcome;
    const last = item === null ? null : brokenForm(item);
    if (item !== null && last !== null) {
      const record = { itemId: item.id, item: last, output, parts: [], usage: null, outcome: "finished" } as const;
      if (call.item === null) await this.begin(job, call, item.id, args);
      await this.#keep(job, call, args, record);
    }
    job.place.add(...endingEvents(job, outcome));
    return { output: outputOf(job, output), asks: false, item: last };
  }

  async #keep(job: MadeRun, call: ToolCall, args: string, result: FinishedExchange): Promise<void> {
    const { services, run } = this.#parts;
    const { itemId } = result;
    const attempts = this.#attempts.end(itemId, "done");
    await services.ledger?.finish(run.owner, run.responseId, result, attempts);
    run.listener.onExchange({ ...exchangeOf(job, call, args, { itemId, attempts }), result });
  }
}
