import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { type ListOrder, SORTS } from "./order-runs.ts";

export const STATUSES: readonly ResponsesApi.ResponseStatus[] = [
  "queued",
  "in_progress",
  "completed",
  "incomplete",
  "failed",
  "cancelled",
];
export const KINDS: readonly ResponsesApi.RunKind[] = ["streamed", "plain", "background", "websocket"];

/** Stretches of time that end now, in seconds. */
export const SPANS: Readonly<Record<string, number>> = {
  "1h": 3_600,
  "24h": 86_400,
  "7d": 7 * 86_400,
  "30d": 30 * 86_400,
};
export const SPAN_NAMES: Readonly<Record<string, string>> = {
  "1h": "Last hour",
  "24h": "Last day",
  "7d": "Last week",
  "30d": "Last month",
};
export const USUAL_SPAN = "24h";

/** What the list is narrowed to, as its URL says. */
export interface RunFilters extends ListOrder {
  readonly statuses: readonly ResponsesApi.ResponseStatus[];
  readonly kind: ResponsesApi.RunKind | null;
  readonly model: string;
  readonly text: string;
  readonly key: string;
  readonly conversation: string;
  /** `name=value`, or empty. */
  readonly metadata: string;
  /** A name of `SPANS`, or `all`, or empty if `from` and `to` say it. */
  readonly span: string;
  /** Unix seconds; null if `span` says it. */
  readonly from: number | null;
  readonly to: number | null;
}

export function readFilters(query: URLSearchParams): RunFilters {
  const text = (name: string): string => query.get(name) ?? "";
  const seconds = (name: string): number | null => (/^\d{1,12}$/.test(text(name)) ? Number(text(name)) : null);
  const statuses = query.getAll("status");
  const span = text("span");
  return {
    statuses: STATUSES.filter((status) => statuses.includes(status)),
    kind: KINDS.find((kind) => kind === query.get("kind")) ?? null,
    model: text("model"),
    text: text("q"),
    key: text("key"),
    conversation: text("conversation"),
    metadata: text("metadata"),
    sort: SORTS.find((sort) => sort === query.get("sort")) ?? "started",
    tool: text("tool"),
    error: text("error"),
    span: seconds("from") === null ? (Object.hasOwn(SPANS, span) || span === "all" ? span : USUAL_SPAN) : "",
    from: seconds("from"),
    to: seconds("to"),
  };
}

/** The query of a URL for these filters. */
export function writeFilters(filters: RunFilters): URLSearchParams {
  const query = new URLSearchParams();
  for (const status of filters.statuses) query.append("status", status);
  const texts: readonly (readonly [string, string | number | null])[] = [
    ["kind", filters.kind],
    ["model", filters.model],
    ["q", filters.text],
    ["key", filters.key],
    ["conversation", filters.conversation],
    ["metadata", filters.metadata],
    ["sort", filters.sort === "started" ? "" : filters.sort],
    ["tool", filters.tool],
    ["error", filters.error],
    ["span", filters.span === USUAL_SPAN ? "" : filters.span],
    ["from", filters.from],
    ["to", filters.to],
  ];
  for (const [name, value] of texts) if (value !== null && value !== "") query.set(name, String(value));
  return query;
}

/** What the server is asked for these filters, but for the words to search for. */
export function askedFilters(filters: RunFilters, nowSeconds: number): StatisticsQuery {
  const { statuses, kind, model, key, conversation, from, to } = filters;
  const [name, value] = filters.metadata.split(/=(.*)/s);
  const spanSeconds = SPANS[filters.span];
  const after = from ?? (spanSeconds === undefined ? null : nowSeconds - spanSeconds);
  return {
    ...(statuses.length === 0 ? {} : { status: statuses }),
    ...(kind === null ? {} : { kind }),
    ...(model === "" ? {} : { model }),
    ...(key === "" ? {} : { key }),
    ...(conversation === "" ? {} : { conversation }),
    ...(name === undefined || name === "" || value === undefined ? {} : { metadata: { [name]: value } }),
    ...(after === null ? {} : { created_after: after }),
    ...(to === null ? {} : { created_before: to }),
  };
}

export interface StatisticsQuery {
  readonly status?: readonly ResponsesApi.ResponseStatus[];
  readonly kind?: ResponsesApi.RunKind;
  readonly model?: string;
  readonly key?: string;
  readonly conversation?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly created_after?: number;
  readonly created_before?: number;
}

/** How many filters are set beside the time and the text. */
export function countFilters({ statuses, kind, model, key, conversation, metadata, tool, error }: RunFilters): number {
  return (
    statuses.length +
    [kind ?? "", model, key, conversation, metadata, tool, error].filter((value) => value !== "").length
  );
}
