import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { TurnDecision } from "@antiphon/domain/tool-ledger.ts";
import { estimateTokens } from "../../../runs/index.ts";
import type { LoopRun, LoopServices } from "../loop-parts.ts";
import type { ResumedUsage } from "./resumed-usage.ts";

const NOTHING: ModelUsage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

interface UsageParts {
  readonly run: LoopRun;
  /** Aborts when nobody needs the response any more. */
  readonly signal: AbortSignal;
}

/** How a turn of the model ended. */
interface TurnToCount {
  /** From 1. */
  readonly number: number;
  /** Null if the model server reports nothing. */
  readonly usage: ModelUsage | null;
  /** Characters that the model wrote. */
  readonly characters: number;
  /** The model's decisions; null if the ledger does not need them, because the response ends now. */
  readonly decision: TurnDecision | null;
}

/** A counted turn. */
export interface TurnOnRecord {
  /** Resolves once it is in the ledger, if it is stored there. */
  readonly recording: Promise<void>;
}

const NOT_STORED: TurnOnRecord = { recording: Promise.resolve() };

/** The tokens of all turns of a response. */
export class LoopUsage {
  readonly #services: Pick<LoopServices, "engine" | "ledger">;
  readonly #parts: UsageParts;
  #total: ModelUsage = NOTHING;
  #last: ModelUsage = NOTHING;

  constructor(services: Pick<LoopServices, "engine" | "ledger">, parts: UsageParts) {
    this.#services = services;
    this.#parts = parts;
  }

  get total(): ModelUsage {
    return this.#total;
  }

  /** Only of the latest turn. */
  get last(): ModelUsage {
    return this.#last;
  }

  /** Counts the usage before a crash. The usage of an interrupted turn is estimated; a note mentions the crash. */
  async goOnAt({ turns, cutCharacters }: ResumedUsage, request: ModelRequest): Promise<void> {
    for (const usage of turns) this.#add(usage);
    for (const characters of cutCharacters) this.#add(await this.#estimate(request, characters));
  }

  /**
   * Counts the usage of a turn with this request. For a background run, it is stored, because another process may
   * continue the run. Resolves once it is counted; later data is stored after the turn.
   */
  async add(
    { usage: modelUsage, number, characters, decision }: TurnToCount,
    request: ModelRequest,
  ): Promise<TurnOnRecord> {
    const { owner, responseId, isBackground } = this.#parts.run;
    const { ledger } = this.#services;
    const usage = modelUsage ?? { ...(await this.#estimate(request, characters)), isEstimate: true };
    this.#add(usage);
    if (!isBackground || decision === null || ledger === null) return NOT_STORED;
    const recording = ledger.endTurn(owner, responseId, { number, usage, decision });
    recording.catch(() => {}); // Everyone who waits for it gets the error.
    return { recording };
  }

  /** Counts the usage of an interrupted turn, as far as the model server has reported it. */
  addBroken(usage: ModelUsage): void {
    this.#add(usage);
  }

  #add(turn: ModelUsage): void {
    this.#last = turn;
    this.#total = {
      inputTokens: this.#total.inputTokens + turn.inputTokens,
      cachedTokens: this.#total.cachedTokens + turn.cachedTokens,
      cacheWriteTokens: this.#total.cacheWriteTokens + turn.cacheWriteTokens,
      outputTokens: this.#total.outputTokens + turn.outputTokens,
      reasoningTokens: this.#total.reasoningTokens + turn.reasoningTokens,
      ...(this.#total.isEstimate === true || turn.isEstimate === true ? { isEstimate: true } : {}),
    };
  }

  /** `characters`: the length of the model's text. */
  async #estimate(request: ModelRequest, characters: number): Promise<ModelUsage> {
    const inputTokens = await this.#services.engine.estimateTokens(request, this.#parts.signal);
    const outputTokens = Math.min(estimateTokens(characters), request.maxOutputTokens ?? Infinity);
    return { ...NOTHING, inputTokens, outputTokens };
  }
}
