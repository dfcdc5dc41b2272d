const TEXT_CHARS_MAX = 500;
/** Of a longer text the rest is not looked at, because it is not shown. */
const READ_CHARS_MAX = 8 * TEXT_CHARS_MAX;
const REDACTED = "[redacted]";
const SECRET_SHAPES: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|hf|nvapi|api|key)[-_][A-Za-z0-9_*.-]{8,}/g,
  /\bBearer\s+[^\s"',;]+/gi,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+/g,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi, // Addresses tell of the operator's network, and may hold keys.
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g,
];

/** What a text of a model server must not tell. */
export interface Hidden {
  readonly apiKey: string | null;
  /** Of the model server, with its port if it has one. */
  readonly host: string;
}

/**
 * A text of a model server that people may see: on one line, shortened, without addresses, our key or anything shaped
 * like one.
 */
export function redact(text: string, { apiKey, host }: Hidden): string {
  let shown = text.slice(0, READ_CHARS_MAX);
  for (const word of [apiKey ?? "", host]) if (word !== "") shown = shown.replaceAll(word, REDACTED);
  for (const shape of SECRET_SHAPES) shown = shown.replaceAll(shape, REDACTED);
  // oxlint-disable-next-line no-control-regex -- Control characters are exactly what is removed.
  shown = shown.replaceAll(/[\u0000-\u001F\u007F\s]+/g, " ").trim();
  return shown.length <= TEXT_CHARS_MAX ? shown : `${shown.slice(0, TEXT_CHARS_MAX - 1)}…`;
}
