const RETRY_AFTER_SECONDS_MAX = 24 * 60 * 60;
const SECONDS_PER: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60 };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Seconds that a refused caller should wait, from the headers or else from the message ("try again in 1.2s"). From 1 to
 * one day; null if neither says.
 */
export function readRetryAfter(headers: Headers, message: string, nowMs: number): number | null {
  const seconds =
    fromMilliseconds(headers["retry-after-ms"]) ?? fromHeader(headers["retry-after"], nowMs) ?? fromMessage(message);
  return seconds === null ? null : Math.min(Math.max(Math.ceil(seconds), 1), RETRY_AFTER_SECONDS_MAX);
}

function fromMilliseconds(header: string | string[] | undefined): number | null {
  const value = Number.parseFloat(String(header ?? ""));
  return Number.isFinite(value) ? value / 1000 : null;
}

function fromHeader(header: string | string[] | undefined, nowMs: number): number | null {
  const text = String(header ?? "").trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number.parseFloat(text);
  const dateMs = Date.parse(text);
  return text === "" || Number.isNaN(dateMs) ? null : (dateMs - nowMs) / 1000;
}

function fromMessage(message: string): number | null {
  const match = /(?:try again|retry) (?:in|after) (?:(\d+)m)?(\d+(?:\.\d+)?)\s?(ms|s|m)/i.exec(message);
  if (match === null) return null;
  return (
    Number.parseFloat(match[1] ?? "0") * 60 +
    Number.parseFloat(match[2] ?? "0") * (SECONDS_PER[match[3]?.toLowerCase() ?? "s"] ?? 1)
  );
}
