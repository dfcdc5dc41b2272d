import type { ResponsesApi } from "../../../packages/client/src/index.ts";

type Run = ResponsesApi.ResponseSummary;

const COLUMNS: readonly (readonly [name: string, value: (run: Run) => string | number | null | undefined])[] = [
  ["id", ({ id }) => id],
  ["started", ({ created_at: at }) => new Date(at * 1000).toISOString()],
  ["status", ({ status }) => status],
  ["error_code", ({ error }) => error?.code],
  ["error_message", ({ error }) => error?.message],
  ["model", ({ model }) => model],
  ["kind", ({ kind }) => kind],
  ["door", ({ face }) => face],
  ["key", ({ key }) => key?.name ?? key?.id],
  ["conversation", ({ conversation }) => conversation?.id],
  ["previous_response_id", ({ previous_response_id: previous }) => previous],
  ["tools", ({ tools }) => tools.join(" ")],
  ["first_text_ms", ({ timing }) => timing.first_text_ms],
  ["duration_ms", ({ timing }) => timing.duration_ms],
  ["input_tokens", ({ usage }) => usage?.input_tokens],
  ["output_tokens", ({ usage }) => usage?.output_tokens],
  ["price", ({ price }) => price?.amount],
  ["currency", ({ price }) => price?.currency],
  ["metadata", ({ metadata }) => JSON.stringify(metadata ?? {})],
  ["input", ({ input_preview: preview }) => preview],
  ["output", ({ output_preview: preview }) => preview],
];

/** Texts that spreadsheets would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** The runs as a table by RFC 4180, with the names of its columns. */
export function csvOf(runs: readonly Run[]): string {
  const head = COLUMNS.map(([name]) => name).join(",");
  const rows = runs.map((run) => COLUMNS.map(([, value]) => cellOf(value(run))).join(","));
  return [head, ...rows, ""].join("\r\n");
}

/** The runs as the API lists them, one a line. */
export function jsonLinesOf(runs: readonly Run[]): string {
  return runs.map((run) => `${JSON.stringify(run)}\n`).join("");
}

function cellOf(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const harmless = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
