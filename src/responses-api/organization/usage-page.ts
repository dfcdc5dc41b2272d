import type { UsageResponse, UsageResult } from "@antiphon/contracts/responses-api/types.ts";
import { readOwner } from "@antiphon/domain/owner.ts";
import type { BucketSeconds, UsageDimension, UsageKind, UsageStore, UsageSum } from "@antiphon/domain/usage.ts";
import { usageLimitAbove, usagePageNotFound } from "../errors/organization-errors.ts";

/** The members of a query that all operations on usage share. */
export interface SpanQuery {
  readonly start_time: number;
  readonly end_time?: number;
  readonly bucket_width?: Width;
  readonly limit?: number;
  readonly page?: string;
  readonly project_ids?: readonly string[];
  readonly user_ids?: readonly string[];
  readonly api_key_ids?: readonly string[];
  readonly models?: readonly string[];
  readonly group_by?: readonly GroupName[];
}

type Width = "1m" | "1h" | "1d";

/** A member by which a query may group. */
export type GroupName =
  | "project_id"
  | "user_id"
  | "api_key_id"
  | "model"
  | "line_item"
  | "batch"
  | "service_tier"
  | "size"
  | "source"
  | "vector_store_id"
  | "context_level";

/** What a page counts, and how it shows a sum. */
export interface CountedPage {
  /** Null for all kinds. */
  readonly kind: UsageKind | null;
  /** By what sums are told apart beside the groups of the query. */
  readonly alwaysBy?: readonly UsageDimension[];
  /** Null for a sum that is not shown. */
  readonly show: (sum: UsageSum) => UsageResult | null;
}

/** The days of a page of costs, or the buckets of a page of usage. */
export interface PageLimits {
  readonly bucketsDefault: number;
  readonly bucketsMax: number;
}

const WIDTHS: Readonly<Record<Width, PageLimits & { readonly seconds: BucketSeconds }>> = {
  "1m": { seconds: 60, bucketsDefault: 60, bucketsMax: 1_440 },
  "1h": { seconds: 3_600, bucketsDefault: 24, bucketsMax: 168 },
  "1d": { seconds: 86_400, bucketsDefault: 7, bucketsMax: 31 },
};

/**
 * A page of buckets, empty ones too. `counted` is null for what this server does not count: then all buckets are empty.
 * Throws an `ApiError` if the query does not fit its width, or names no page.
 */
export async function usagePage(
  store: Pick<UsageStore, "sum">,
  query: SpanQuery,
  counted: CountedPage | null,
  limits: PageLimits | null = null,
): Promise<UsageResponse> {
  const span = spanOf(query, limits);
  const sums = counted === null || span.starts.length === 0 ? [] : await sumsOf(store, query, counted, span);
  const byStart = Map.groupBy(sums, ({ start }) => start);
  return {
    object: "page",
    data: span.starts.map((start) => ({
      object: "bucket",
      start_time: start,
      end_time: start + span.seconds,
      results: (byStart.get(start) ?? []).flatMap((sum) => counted?.show(sum) ?? []),
    })),
    has_more: span.next !== null,
    next_page: span.next === null ? null : `page_${span.next}`,
  };
}

interface Span {
  readonly seconds: BucketSeconds;
  /** Of each bucket on the page. */
  readonly starts: readonly number[];
  /** Where the next page begins; null if this is the last. */
  readonly next: number | null;
}

function spanOf({ bucket_width: width = "1d", ...query }: SpanQuery, limits: PageLimits | null): Span {
  const { seconds, ...usual } = WIDTHS[width];
  const { bucketsDefault, bucketsMax } = limits ?? usual;
  const { limit = bucketsDefault, start_time: from, end_time: before = Math.floor(Date.now() / 1000) + 1 } = query;
  if (limit > bucketsMax) throw usageLimitAbove(bucketsMax, width);
  const first = query.page === undefined ? from - (from % seconds) : pageStart(query.page, seconds);
  const count = Math.min(limit, Math.max(0, Math.ceil((before - first) / seconds)));
  const end = first + count * seconds;
  const starts = Array.from({ length: count }, (_, index) => first + index * seconds);
  return { seconds, starts, next: count > 0 && end < before ? end : null };
}

function pageStart(page: string, seconds: number): number {
  const [, digits] = /^page_(\d{1,11})$/.exec(page) ?? [];
  const start = Number(digits ?? Number.NaN);
  if (start % seconds !== 0) throw usagePageNotFound();
  return start;
}

async function sumsOf(
  store: Pick<UsageStore, "sum">,
  query: SpanQuery,
  { kind, alwaysBy = [] }: CountedPage,
  { seconds, starts }: Span,
): Promise<readonly UsageSum[]> {
  if (query.user_ids !== undefined) return []; // This server has no users.
  const dimensions = (query.group_by ?? []).flatMap((name) => DIMENSIONS[name] ?? []);
  return await store.sum({
    kind,
    bucketSeconds: seconds,
    from: starts[0] ?? 0,
    before: (starts.at(-1) ?? 0) + seconds,
    owners: query.project_ids?.flatMap((project) => readOwner(project) ?? []) ?? null,
    keyIds: query.api_key_ids ?? null,
    models: query.models ?? null,
    groupBy: [...new Set([...alwaysBy, ...dimensions])],
  });
}

const DIMENSIONS: Readonly<Partial<Record<GroupName, UsageDimension>>> = {
  project_id: "project",
  api_key_id: "key",
  model: "model",
  line_item: "model",
  service_tier: "serviceTier",
};
