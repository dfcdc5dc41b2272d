import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { UsageCompletionsResult } from "@antiphon/contracts/responses-api/types.ts";
import { ownerText } from "@antiphon/domain/owner.ts";
import { NANOS_PER_UNIT, type UsageStore, type UsageSum } from "@antiphon/domain/usage.ts";
import type { Principal } from "../access/authenticate.ts";
import type { Caller } from "../access/caller.ts";
import { requireOperator } from "./key-handlers.ts";
import { type CountedPage, type SpanQuery, usagePage } from "./usage-page.ts";

type UsageOperation =
  | "getAudioSpeechesUsage"
  | "getAudioTranscriptionsUsage"
  | "getCodeInterpreterSessionsUsage"
  | "getCompletionsUsage"
  | "getCosts"
  | "getEmbeddingsUsage"
  | "getFileSearchCallsUsage"
  | "getImagesUsage"
  | "getModerationsUsage"
  | "getVectorStoresUsage"
  | "getWebSearchCallsUsage";

const USAGE_SCOPE = "api.usage.read";
/** The days on a page of costs. */
const COST_DAYS = { bucketsDefault: 7, bucketsMax: 180 };

/** `GET /v1/organization/usage/…` and `GET /v1/organization/costs`, for operators. */
export function usageHandlers(store: Pick<UsageStore, "sum">): Pick<ResponsesApiHandlers<Caller>, UsageOperation> {
  const page = async (query: SpanQuery, principal: Principal, counted: CountedPage | null) => {
    requireOperator(principal, USAGE_SCOPE);
    return { status: 200 as const, body: await usagePage(store, query, counted) };
  };
  const empty = ({ query }: { readonly query: SpanQuery }, { principal }: Caller) => page(query, principal, null);
  const counted =
    (shown: CountedPage) =>
    ({ query }: { readonly query: SpanQuery }, { principal }: Caller) =>
      page(query, principal, shown);
  return {
    getAudioSpeechesUsage: counted(SPEECHES),
    getAudioTranscriptionsUsage: counted(TRANSCRIPTIONS),
    getImagesUsage: empty,
    getModerationsUsage: empty,
    getVectorStoresUsage: empty,
    getCompletionsUsage: ({ query }, { principal }) => {
      const isGrouped = query.group_by?.includes("batch") === true;
      const show = (sum: UsageSum) => completionsResult(sum, isGrouped ? false : null);
      return page(query, principal, query.batch === true ? null : { kind: "completions", show });
    },
    getEmbeddingsUsage: counted(EMBEDDINGS),
    getCodeInterpreterSessionsUsage: counted(SESSIONS),
    getFileSearchCallsUsage: ({ query }, { principal }) =>
      page(query, principal, query.vector_store_ids === undefined ? FILE_SEARCHES : null),
    getWebSearchCallsUsage: ({ query }, { principal }) =>
      page(query, principal, query.context_levels === undefined ? WEB_SEARCHES : null),
    getCosts: async ({ query }, { principal }) => {
      requireOperator(principal, USAGE_SCOPE);
      const isByLine = query.group_by?.includes("line_item") === true;
      const show = (sum: UsageSum) => costsResult(sum, isByLine);
      return {
        status: 200,
        body: await usagePage(store, query, { kind: null, alwaysBy: ["currency"], show }, COST_DAYS),
      };
    },
  };
}

function projectId({ owner }: UsageSum): string | null {
  return owner === null ? null : ownerText(owner);
}

/** By whom and what a sum was used, as far as the query groups by it. */
function groupMembers(sum: UsageSum) {
  return { project_id: projectId(sum), user_id: null, api_key_id: sum.keyId, model: sum.model };
}

function completionsResult(sum: UsageSum, batch: false | null): UsageCompletionsResult {
  const { amounts, serviceTier } = sum;
  return {
    object: "organization.usage.completions.result",
    input_tokens: amounts.inputTokens,
    input_cached_tokens: amounts.cachedTokens,
    input_cache_write_tokens: amounts.cacheWriteTokens,
    input_uncached_tokens: Math.max(0, amounts.inputTokens - amounts.cachedTokens),
    output_tokens: amounts.outputTokens,
    num_model_requests: amounts.requests,
    ...groupMembers(sum),
    batch,
    service_tier: serviceTier,
  };
}

const EMBEDDINGS: CountedPage = {
  kind: "embeddings",
  show: (sum) => ({
    object: "organization.usage.embeddings.result",
    input_tokens: sum.amounts.inputTokens,
    num_model_requests: sum.amounts.requests,
    ...groupMembers(sum),
  }),
};

const SPEECHES: CountedPage = {
  kind: "audio_speeches",
  show: (sum) => ({
    object: "organization.usage.audio_speeches.result",
    characters: sum.amounts.calls,
    num_model_requests: sum.amounts.requests,
    ...groupMembers(sum),
  }),
};

const MS_PER_SECOND = 1000;

const TRANSCRIPTIONS: CountedPage = {
  kind: "audio_transcriptions",
  show: (sum) => ({
    object: "organization.usage.audio_transcriptions.result",
    seconds: Math.round(sum.amounts.calls / MS_PER_SECOND),
    num_model_requests: sum.amounts.requests,
    ...groupMembers(sum),
  }),
};

const SESSIONS: CountedPage = {
  kind: "code_interpreter_sessions",
  show: (sum) => ({
    object: "organization.usage.code_interpreter_sessions.result",
    num_sessions: sum.amounts.calls,
    project_id: projectId(sum),
  }),
};

const FILE_SEARCHES: CountedPage = {
  kind: "file_search_calls",
  show: (sum) => {
    const { model: _model, ...members } = groupMembers(sum);
    const num_requests = sum.amounts.calls;
    return { object: "organization.usage.file_searches.result", num_requests, ...members, vector_store_id: null };
  },
};

const WEB_SEARCHES: CountedPage = {
  kind: "web_search_calls",
  show: (sum) => ({
    object: "organization.usage.web_searches.result",
    num_model_requests: sum.amounts.requests,
    num_requests: sum.amounts.calls,
    ...groupMembers(sum),
    context_level: null,
  }),
};

/** Null for what has no price. */
function costsResult(sum: UsageSum, isByLine: boolean) {
  const { amounts, currency, model, keyId } = sum;
  if (currency === null) return null;
  return {
    object: "organization.costs.result" as const,
    amount: { value: amounts.nanos / NANOS_PER_UNIT, currency },
    line_item: model,
    project_id: projectId(sum),
    api_key_id: keyId,
    quantity: isByLine ? amounts.inputTokens + amounts.outputTokens : null,
    quantity_unit: isByLine ? "tokens" : null,
  };
}
