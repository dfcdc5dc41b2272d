import type { RefusedRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { CountedResponses, ResponseCounts, ResponseFilter } from "@antiphon/domain/inspection.ts";

const NOTHING: CountedResponses = {
  runs: 0,
  failed: 0,
  inputTokens: 0,
  outputTokens: 0,
  durationsMs: [],
  firstTextsMs: [],
};

/** Whether a refused request matches a filter. It has no metadata, conversation or chain. */
export function fitsRefused(
  { statuses, model, kind, isBackground, metadata, keyId, conversationId, previousId }: ResponseFilter,
  refusal: RefusedRequest,
): boolean {
  if (conversationId !== null || previousId !== null || Object.keys(metadata).length > 0) return false;
  return (
    (statuses === null || statuses.includes("failed")) &&
    (model === null || model === refusal.model) &&
    (kind === null || kind === refusal.kind) &&
    (isBackground === null || isBackground === (refusal.kind === "background")) &&
    (keyId === null || keyId === refusal.key_id)
  );
}

/** The counts with refused requests as failed runs. */
export function withRefused(
  counts: ResponseCounts,
  refusals: readonly RefusedRequest[],
  { from, bucketSeconds }: { readonly from: number; readonly bucketSeconds: number },
): ResponseCounts {
  const buckets = new Map(counts.buckets);
  const models = new Map(counts.models);
  for (const { created_at: createdAt, model } of refusals) {
    addFailed(buckets, Math.floor((createdAt - from) / bucketSeconds));
    if (model !== "") addFailed(models, model);
  }
  return { ...counts, buckets, models };
}

function addFailed<Key>(counts: Map<Key, CountedResponses>, key: Key): void {
  const sum = counts.get(key) ?? NOTHING;
  counts.set(key, { ...sum, runs: sum.runs + 1, failed: sum.failed + 1 });
}
