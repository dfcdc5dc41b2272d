import type { AnsweringServer, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelPolicy } from "@antiphon/domain/models/model-policy.ts";
import { estimateTokens } from "../../../runs/index.ts";
import { Admission } from "../../access/admission.ts";
import type { Caller } from "../../access/caller.ts";
import type { KeyAccounts } from "../../access/key-accounts.ts";
import { checkModelOwner } from "../../create/model-defaults.ts";
import { retrievalFailed } from "../../errors/embedding-errors.ts";
import { tooManyRuns } from "../../errors/server-errors.ts";
import { modelServerHeader } from "../../show/reply-headers.ts";

/** The maximum concurrent requests for vectors or ranks. Each is one or several calls of a model server. */
const WORK_MAX = 100;

/** Who embeds and ranks, and who may ask. */
export interface RetrievalContext {
  readonly engine: Pick<ModelEngine, "embed" | "rerank">;
  readonly policyOf: (model: string) => ModelPolicy | null;
}

interface Wanted<Answer> {
  readonly model: string;
  /** The inputs, for an estimate of their tokens. */
  readonly inputs: readonly { readonly length: number }[];
  /** What the engine is asked. */
  readonly ask: (onAnsweredBy: (server: AnsweringServer) => void) => Promise<Answer>;
}

export interface RetrievalAnswer<Answer> {
  readonly answer: Answer;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly headers: Readonly<Record<string, string>>;
}

/** Applies the limits of keys to requests for vectors and ranks. */
export class RetrievalWork {
  readonly #policyOf: RetrievalContext["policyOf"];
  readonly #accounts: KeyAccounts;
  #running = 0;

  constructor({ policyOf }: RetrievalContext, accounts: KeyAccounts) {
    this.#policyOf = policyOf;
    this.#accounts = accounts;
  }

  /** Throws an `ApiError` if the caller may not ask, or the engine fails. */
  async do<Answer extends { readonly tokens: number | null }>(
    { principal }: Caller,
    wanted: Wanted<Answer>,
  ): Promise<RetrievalAnswer<Answer>> {
    if (this.#running >= WORK_MAX) throw tooManyRuns("runs", WORK_MAX);
    this.#running += 1;
    try {
      const { budgets, limiter, meter } = this.#accounts;
      await budgets.requireRoom(principal);
      const admission = await Admission.open(limiter, principal);
      const { owner, keyId } = principal;
      checkModelOwner(wanted.model, this.#policyOf(wanted.model), owner);
      const reply = await admitted(admission, wanted);
      meter.noteRetrieval({ owner, keyId, model: wanted.model }, reply.usage.total_tokens);
      return reply;
    } catch (error) {
      throw retrievalFailed(error);
    } finally {
      this.#running -= 1;
    }
  }
}

async function admitted<Answer extends { readonly tokens: number | null }>(
  admission: Admission,
  { inputs, ask }: Wanted<Answer>,
): Promise<RetrievalAnswer<Answer>> {
  const estimate = estimateTokens(inputs.reduce((sum, { length }) => sum + length, 0));
  await admission.reserve({ input: estimate, outputMax: 0 });
  let by: AnsweringServer | null = null;
  try {
    const answer = await ask((server) => {
      by = server;
    });
    const tokens = answer.tokens ?? estimate;
    admission.settle(tokens);
    const emulated = answer.tokens === null ? { "x-antiphon-emulated": "usage" } : {};
    return {
      answer,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      headers: { ...admission.headers, ...modelServerHeader(by), ...emulated },
    };
  } catch (error) {
    admission.settle(0);
    throw error;
  }
}
