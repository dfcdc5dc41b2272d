const TEXT_CHARS_MAX = 500;
/** A longer text is cut here first, because only TEXT_CHARS_MAX are shown. */
const READ_CHARS_MAX = 8 * TEXT_CHARS_MAX;
const REDACTED = "[redacted]";
const SECRET_SHAPES: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|hf|nvapi|api|key)[-_][A-Za-z0-9_*.-]{8,}/g,
  /\bBearer\s+[^\s"',;]+/gi,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+/g,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi, // URLs reveal the operator's network and may contain keys.
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g,
  /(?:\b[A-Za-z]:)?(?:[\\/][\w.@+-]+){2,}\.(?:bin|c|cc|cpp|cjs|gguf|go|h|hpp|js|mjs|py|rs|safetensors|so|ts)\b(?::\d+)*/g,
];
/** The beginning of a stack trace, as printed by Python and JavaScript. */
const STACK = /(?:Traceback \(most recent call last\)|\bFile "[^"\n]+", line \d+|\n\s+at \S)[^]*$/;
/** The last line of a Python stack trace is the error. */
const STACK_END = /\n(\w+(?:Error|Exception): [^\n]+)\s*$/;

/** Parts of a model server's texts that must not be shown. */
export interface Secrets {
  readonly apiKey: string | null;
  /** The model server's host, with its port if it has one. */
  readonly host: string;
}

/** What errors may not show of a model server, and where the operator sets its key. */
export interface ModelServerSecrets extends Secrets {
  readonly keySetting: string;
}

/**
 * Makes a model server's text safe to show: on one line, at most 500 characters, without addresses, our key, anything
 * that looks like a key, stack traces and program paths.
 */
export function redact(text: string, { apiKey, host }: Secrets): string {
  let result = withoutStack(text.slice(0, READ_CHARS_MAX));
  for (const word of [apiKey ?? "", host]) if (word !== "") result = result.replaceAll(word, REDACTED);
  for (const shape of SECRET_SHAPES) result = result.replaceAll(shape, REDACTED);
  // oxlint-disable-next-line no-control-regex -- Control characters are exactly what is removed.
  result = result.replaceAll(/[\u0000-\u001F\u007F\s]+/g, " ").trim();
  return result.length <= TEXT_CHARS_MAX ? result : `${result.slice(0, TEXT_CHARS_MAX - 1)}…`;
}

function withoutStack(text: string): string {
  const rest = text.replace(STACK, "");
  return rest.trim() === "" ? (STACK_END.exec(text)?.[1] ?? rest) : rest;
}
