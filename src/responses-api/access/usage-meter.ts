import type { OutputItem, Response, Usage } from "@antiphon/contracts/responses-api/types.ts";
import type { PriceTable } from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import {
  NANOS_PER_UNIT,
  NO_AMOUNTS,
  type UsageAmounts,
  type UsageCount,
  type UsageKind,
} from "@antiphon/domain/usage.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** Who used a model. */
export interface ModelUser {
  readonly owner: Owner;
  /** Null if it is not known. */
  readonly keyId: string | null;
  /** As the request named it. */
  readonly model: string;
}

/** Turns what models and tools did into counts, with prices. */
export class UsageMeter {
  readonly #ledger: Pick<UsageLedger, "note">;
  readonly #prices: PriceTable;

  constructor(ledger: Pick<UsageLedger, "note">, prices: PriceTable) {
    this.#ledger = ledger;
    this.#prices = prices;
  }

  /** Counts a response that has ended, or a compaction. */
  noteAnswer(user: ModelUser, usage: Usage, tier: Response["service_tier"] = "default"): void {
    this.#note(user, "completions", {
      serviceTier: tier ?? "default",
      inputTokens: usage.input_tokens,
      cachedTokens: usage.input_tokens_details.cached_tokens,
      cacheWriteTokens: usage.input_tokens_details.cache_write_tokens,
      outputTokens: usage.output_tokens,
    });
  }

  /** Counts vectors or ranks. */
  noteRetrieval(user: ModelUser, inputTokens: number): void {
    this.#note(user, "embeddings", { inputTokens });
  }

  /** Counts a text that is spoken. */
  noteSpeech(user: ModelUser, characters: number): void {
    this.#note(user, "audio_speeches", { calls: characters });
  }

  /** Counts sound that was transcribed. */
  noteHearing(user: ModelUser, ms: number): void {
    this.#note(user, "audio_transcriptions", { calls: Math.round(ms) });
  }

  /** Counts the calls of this server's tools among the items of a response. */
  noteTools(user: ModelUser, output: readonly OutputItem[]): void {
    for (const [kind, calls] of toolCalls(output)) if (calls > 0) this.#note(user, kind, { calls });
  }

  #note(
    { model, ...user }: ModelUser,
    kind: UsageKind,
    { serviceTier = "default", ...amounts }: Partial<UsageAmounts> & { readonly serviceTier?: string },
  ): void {
    const counted = { ...NO_AMOUNTS, requests: 1, ...amounts };
    const price = counted.inputTokens + counted.outputTokens === 0 ? null : this.#prices.priceOf(model, counted);
    const count: UsageCount = {
      ...user,
      kind,
      model,
      serviceTier,
      currency: price === null ? null : price.currency.toLowerCase(),
      at: Math.floor(Date.now() / 1000),
      amounts: { ...counted, nanos: price === null ? 0 : Math.round(price.amount * NANOS_PER_UNIT) },
    };
    this.#ledger.note(count);
  }
}

function toolCalls(output: readonly OutputItem[]): readonly (readonly [UsageKind, number])[] {
  const callsOf = (type: OutputItem["type"]): number => output.filter((item) => item.type === type).length;
  const containers = output.flatMap((item) => (item.type === "code_interpreter_call" ? [item.container_id] : []));
  return [
    ["code_interpreter_sessions", new Set(containers).size],
    ["file_search_calls", callsOf("file_search_call")],
    ["web_search_calls", callsOf("web_search_call")],
  ];
}
