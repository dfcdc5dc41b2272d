import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ModelStatistics, StatisticsBucket } from "@antiphon/contracts/responses-api/types.ts";
import type { CountedResponses, PriceTable, RefusalStore, ResponseArchive } from "@antiphon/domain/inspection.ts";
import type { Caller } from "../../access/caller.ts";
import { invalidRequest } from "../../errors/invalid-request.ts";
import { fitsRefused, withRefused } from "./count-refusals.ts";
import { filterOf } from "./list-responses.ts";

const BUCKETS_DEFAULT = 60;
const SECONDS_DEFAULT = 86_400;
const MODELS_MAX = 50;
const REFUSED_SHOWN_MAX = 20;

export interface StatisticsContext {
  /** Lists of stored responses, and how they were made. */
  readonly archive: ResponseArchive;
  /** Requests that were refused. */
  readonly refusals: RefusalStore;
  /** What tokens cost. */
  readonly prices: PriceTable;
}

/** `GET /v1/responses/statistics`: numbers of the owner's stored responses over time. */
export function getResponseStatistics({
  archive,
  prices,
  refusals: kept,
}: StatisticsContext): ResponsesApiHandlers<Caller>["getResponseStatistics"] {
  return async ({ query }, { principal: { owner } }) => {
    const { buckets: count = BUCKETS_DEFAULT } = query;
    const before = query.created_before ?? Math.floor(Date.now() / 1000) + 1;
    const from = query.created_after ?? Math.max(0, before - SECONDS_DEFAULT);
    if (from >= before) throw emptySpan();
    const seconds = Math.ceil((before - from) / count);
    const filter = { ...filterOf(query), createdAfter: from, createdBefore: before };
    const place = { from, bucketSeconds: seconds };
    const [storedCounts, refusals] = await Promise.all([
      archive.count(owner, { filter, ...place }),
      kept.list(owner, { from, before }),
    ]);
    const fittingRefusals = refusals.filter((one) => fitsRefused(filter, one));
    const totals = withRefused(storedCounts, fittingRefusals, place);
    const buckets = Array.from({ length: Math.ceil((before - from) / seconds) }, (_, index) =>
      bucketOf(from + index * seconds, totals.buckets.get(index)),
    );
    const models = [...totals.models]
      .toSorted(([, one], [, other]) => other.runs - one.runs)
      .slice(0, MODELS_MAX)
      .map(([model, numbers]) => modelStatistics(model, numbers, prices));
    const to = from + buckets.length * seconds;
    return {
      status: 200,
      body: {
        object: "response.statistics",
        from,
        to,
        bucket_seconds: seconds,
        is_partial: totals.isPartial,
        buckets,
        models,
        refused: fittingRefusals.slice(0, REFUSED_SHOWN_MAX),
      },
    };
  };
}

const NOTHING: CountedResponses = {
  runs: 0,
  failed: 0,
  inputTokens: 0,
  outputTokens: 0,
  durationsMs: [],
  firstTextsMs: [],
};

function bucketOf(start: number, counts: CountedResponses = NOTHING): StatisticsBucket {
  return { start, ...numbersOf(counts) };
}

function modelStatistics(model: string, counts: CountedResponses, prices: PriceTable): ModelStatistics {
  return { model, ...numbersOf(counts), price: prices.priceOf(model, counts) };
}

function numbersOf({ runs, failed, inputTokens, outputTokens, durationsMs, firstTextsMs }: CountedResponses) {
  const durations = durationsMs.toSorted((one, other) => one - other);
  return {
    runs,
    failed,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    duration_ms_p50: within(durations, 0.5),
    duration_ms_p95: within(durations, 0.95),
    first_text_ms_p50: within(
      firstTextsMs.toSorted((one, other) => one - other),
      0.5,
    ),
  };
}

/** The smallest of these ascending values that covers this share of them; null if there are none. */
function within(ascending: readonly number[], part: number): number | null {
  return ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? null;
}

function emptySpan() {
  const message = "Invalid 'created_after': it must be before 'created_before'.";
  return invalidRequest(400, "invalid_value", "created_after", message);
}
