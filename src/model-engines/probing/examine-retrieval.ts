import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { type Finding, failure, msSince } from "./finding.ts";

const PROBE_MS_MAX = 60_000;
const QUESTION = "How is the sea today?";
/** The first one answers the question. */
const TEXTS = ["Today the sea is calm.", "Bread is baked in the morning."] as const;
const BYTES_A_NUMBER = 4;

export interface ExaminedRetrieval {
  readonly model: string;
  readonly what: "embeddings" | "ranks";
  readonly signal: AbortSignal;
}

/** Asks a model for vectors, or for ranks. Rejects only if `signal` aborts. */
export async function examineRetrieval(
  engine: Pick<ModelEngine, "embed" | "rerank">,
  { model, what, signal }: ExaminedRetrieval,
): Promise<Finding> {
  const startedAt = performance.now();
  const name = `${what} of ${model}`;
  const deadline = AbortSignal.timeout(PROBE_MS_MAX);
  try {
    const until = AbortSignal.any([signal, deadline]);
    const judgement = await (what === "embeddings" ? tryEmbeddings : tryRanks)(engine, model, until);
    return { name, ...judgement, ms: msSince(startedAt) };
  } catch (error) {
    signal.throwIfAborted();
    const fault = deadline.aborted ? new Error(`no answer within ${PROBE_MS_MAX / 1000} s`) : error;
    return { name, ...failure(fault), ms: msSince(startedAt) };
  }
}

type Judgement = Pick<Finding, "verdict" | "why">;
const ASKED = { payer: "", trace: null } as const;

async function tryEmbeddings(
  engine: Pick<ModelEngine, "embed">,
  model: string,
  signal: AbortSignal,
): Promise<Judgement> {
  const request = { ...ASKED, model, inputs: TEXTS, encoding: "base64", dimensions: null, user: null } as const;
  const { vectors, tokens } = await engine.embed(request, signal);
  const [first = ""] = vectors;
  const isText = typeof first === "string";
  const size = isText ? Buffer.byteLength(first, "base64") / BYTES_A_NUMBER : first.length;
  const lacks = [...(isText ? [] : ["base64"]), ...(tokens === null ? ["counts of tokens"] : [])];
  return { verdict: "honoured", why: `${size} numbers${lacks.length === 0 ? "" : `, without ${lacks.join(" and ")}`}` };
}

async function tryRanks(engine: Pick<ModelEngine, "rerank">, model: string, signal: AbortSignal): Promise<Judgement> {
  const { scores } = await engine.rerank({ ...ASKED, model, query: QUESTION, documents: TEXTS }, signal);
  const [fitting = 0, other = 0] = scores;
  if (fitting <= other) return { verdict: "ignored", why: "it prefers the document that does not answer the question" };
  return { verdict: "honoured", why: null };
}
