import { styleText } from "node:util";
import type {
  McpCall,
  OutputItem,
  Response,
  ResponseExchange,
  ResponseNote,
  ResponseSummary,
  TimelineEvent,
} from "@antiphon/contracts/responses-api/types.ts";

const PREVIEW_CHARACTERS = 60;
const STATUS_WIDTH = 11;
const KIND_WIDTH = 10;
const TIME_WIDTH = 9;
const MS_PER_S = 1000;

/** A run in a list, as one line. */
export function runLine(run: ResponseSummary): string {
  const { id, status, kind, model, usage, price, timing, input_preview, output_preview, tools } = run;
  const tokens = usage === null ? "" : `${usage.input_tokens}+${usage.output_tokens} tokens`;
  const cost = price === null ? "" : `${price.amount} ${price.currency}`;
  const output = shortenPreview(output_preview === "" ? tools.join(", ") : output_preview);
  return printable(
    [
      timeOf(run.created_at),
      status.padEnd(STATUS_WIDTH),
      kind.padEnd(KIND_WIDTH),
      durationOf(timing.duration_ms).padStart(TIME_WIDTH),
      id,
      model,
      ...[tokens, cost].filter((text) => text !== ""),
      `${JSON.stringify(shortenPreview(input_preview))} → ${JSON.stringify(output)}`,
    ].join("  "),
  );
}

const COLORS: Readonly<Record<ResponseSummary["status"], Parameters<typeof styleText>[0]>> = {
  queued: "cyan",
  in_progress: "cyan",
  completed: "green",
  incomplete: "yellow",
  failed: "red",
  cancelled: "yellow",
};
const YEAR_CHARACTERS = "2026-".length;
const INDENT = " ".repeat("01-31 15:04:05  ".length);
const ARROW = " → ";
const ROOM_MIN = 40;

/** A run in a list on a terminal, as three lines that fit its width. */
export function runOnTerminal(run: ResponseSummary, columns: number, hasColors: boolean): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string): string =>
    hasColors ? styleText(format, text, { validateStream: false }) : text;
  const { id, status, kind, model, usage, price, timing, input_preview: input, output_preview, tools } = run;
  const output = output_preview === "" ? tools.join(", ") : output_preview;
  const facts = [
    kind.padEnd(KIND_WIDTH),
    durationOf(timing.duration_ms).padStart(TIME_WIDTH),
    model,
    ...(usage === null ? [] : [`${usage.input_tokens}+${usage.output_tokens} tokens`]),
    ...(price === null ? [] : [`${price.amount} ${price.currency}`]),
  ].join("  ");
  const time = timeOf(run.created_at).slice(YEAR_CHARACTERS);
  const room = Math.max(ROOM_MIN, columns - INDENT.length);
  const shares = output === "" ? [input] : [shortenPreview(input, Math.floor((room - ARROW.length) / 2)), output];
  return [
    `${time}  ${paint(COLORS[status], status.padEnd(STATUS_WIDTH))}  ${printable(facts)}`,
    `${INDENT}${paint("dim", printable(id))}`,
    `${INDENT}${printable(shortenPreview(shares.join(ARROW), room))}`,
  ].join("\n");
}

/** A run with its output, for people. */
export function runLines(response: Response): string {
  const { id, status, model, created_at, error, usage, previous_response_id: previous, output } = response;
  const head = [
    `${id}  ${status}  ${model}  ${timeOf(created_at)}`,
    ...(previous === null ? [] : [`continues ${previous}`]),
    ...(usage == null ? [] : [`${usage.input_tokens} tokens in, ${usage.output_tokens} out`]),
    ...(error === null ? [] : [`${error.code}: ${error.message}`]),
  ];
  return printable([...head, ...output.map(itemLine)].join("\n"));
}

/** Prints consecutive events of one type as one line. */
export function eventLines(events: readonly TimelineEvent[]): readonly string[] {
  const groups: { readonly first: TimelineEvent; count: number }[] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last?.first.type === event.type) last.count += 1;
    else groups.push({ first: event, count: 1 });
  }
  return groups.map(({ first, count }) => `${eventLine(first)}${count === 1 ? "" : ` × ${count}`}`);
}

export function eventLine(event: Pick<TimelineEvent, "at_ms" | "type"> & { readonly sequence_number: number }): string {
  const at = event.at_ms === null ? "" : `${event.at_ms} ms`;
  return printable(
    `${String(event.sequence_number).padStart(STATUS_WIDTH)}  ${at.padStart(TIME_WIDTH)}  ${event.type}`,
  );
}

/** An exchange with its bodies. */
export function exchangeLines({ kind, turn, request, response, duration_ms, error }: ResponseExchange): string {
  const place = turn === null ? kind : `${kind}, turn ${turn}`;
  return printable(
    [
      `${place}: ${request.method} ${request.url}`,
      request.body.text,
      response === null ? "no reply" : `${response.status} after ${durationOf(duration_ms)}`,
      ...(response === null ? [] : [response.body.text]),
      ...(error === null ? [] : [`broke off: ${error}`]),
    ].join("\n"),
  );
}

function itemLine(item: OutputItem): string {
  if (item.type === "message")
    return item.content.map((part) => (part.type === "output_text" ? part.text : part.refusal)).join("\n");
  if (item.type === "mcp_call") return `${item.type} ${item.name}(${item.arguments})${failureOf(item)}`;
  if ("arguments" in item && "name" in item) return `${item.type} ${item.name}(${item.arguments})`;
  if (item.type === "mcp_list_tools")
    return `${item.type} ${item.server_label}: ${item.tools.map(({ name }) => name).join(", ")}`;
  if (item.type !== "reasoning") return item.type;
  const thoughts = [...(item.content ?? []), ...item.summary].map(({ text }) => text);
  return thoughts.length === 0 ? item.type : `${item.type}: ${thoughts.join("\n")}`;
}

/** The reason of a failed call, or the remark that its effect is unknown. */
function failureOf({ error }: McpCall): string {
  if (error === null) return "";
  return ` ${"message" in error ? error.message : "failed"}`;
}

/** A note on a run. An incident has its time and its server. */
export function noteLine({ kind, what, why, at, node }: ResponseNote): string {
  const moment = at === undefined ? "" : `${timeOf(at)}  `;
  const teller = node === undefined ? "" : ` (${node})`;
  return printable(`${moment}${kind} ${what}: ${why}${teller}`);
}

function timeOf(seconds: number): string {
  return new Date(seconds * MS_PER_S).toISOString().replace("T", " ").slice(0, -".000Z".length);
}

function durationOf(ms: number | null): string {
  if (ms === null) return "";
  return ms < MS_PER_S ? `${ms} ms` : `${(ms / MS_PER_S).toFixed(1)} s`;
}

function shortenPreview(text: string, charactersMax = PREVIEW_CHARACTERS): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).toWellFormed()}…`;
}

/** Removes control characters: an answer could send commands to the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, "\uFFFD");
}
