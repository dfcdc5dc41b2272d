import { isRecord } from "@antiphon/base/json/records.ts";

/** Fields that a person at a terminal does not need in every line; the JSON log has them all. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  (
    "level time pid node msg interface err requestId clientRequestId operationId keyId organization project complete " +
    "queueMs events cachedTokens reasoningTokens"
  ).split(" "),
);
/** Fields that are part of the text of a request's line. */
const SAID_OF_REQUESTS: ReadonlySet<string> = new Set(["method", "path", "status", "ms"]);
const VALUE_CHARACTERS_MAX = 200;

/** The text of a log line for people: what happens, and the other fields as `name=value`. */
export function readableLine(fields: Readonly<Record<string, unknown>>): string {
  const isRequest = fields["msg"] === "request" && typeof fields["path"] === "string";
  const summary = isRequest
    ? `${text(fields["method"])} ${text(fields["path"])}  ${text(fields["status"])}  ${text(fields["ms"])} ms`
    : text(fields["msg"] ?? "");
  const more = Object.entries(fields)
    .filter(([name, value]) => !LEFT_OUT.has(name) && !(isRequest && SAID_OF_REQUESTS.has(name)) && value != null)
    .map(([name, value]) => `${name}=${text(value)}`);
  const whole = fields["complete"] === false ? ["  (the client left before the end)"] : [];
  return [summary, ...whole, ...(more.length === 0 ? [] : [`  ${more.join(" ")}`]), ...errorWords(fields["err"])].join(
    "",
  );
}

/** An error of this program has its own lines, with its stack. */
function errorWords(error: unknown): readonly string[] {
  if (!isRecord(error) || hasStack(error)) return errorLines(error);
  return [`  ${text(error["message"] ?? "")}`];
}

function errorLines(error: unknown): readonly string[] {
  if (!isRecord(error)) return [];
  const { type, message, stack, cause } = error;
  const head = `\n    ${text(type ?? "Error")}: ${text(message ?? "")}`;
  return [head, typeof stack === "string" && stack !== "" ? `\n${stack}` : "", ...errorLines(cause)];
}

/** Whether the error, or one of its causes, comes from this program. */
function hasStack(error: unknown): boolean {
  return isRecord(error) && (error["stack"] !== undefined || hasStack(error["cause"]));
}

/** One line of limited length; quoted if it contains blanks. Control characters could write to the terminal. */
function text(value: unknown): string {
  const plain = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const harmless = plain.replaceAll(/\p{Cc}/gu, " ");
  return harmless.length > VALUE_CHARACTERS_MAX ? `${harmless.slice(0, VALUE_CHARACTERS_MAX)}…` : harmless;
}
