type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Seconds until a refused caller may retry, from `retry-after-ms`, otherwise from `retry-after`, which contains seconds
 * or a date. Not positive if the time has passed; null if neither is present. `nowMs`: the current time.
 */
export function retryAfterSeconds(headers: Headers, nowMs: number): number | null {
  return fromMilliseconds(headers["retry-after-ms"]) ?? fromSecondsOrDate(headers["retry-after"], nowMs);
}

function fromMilliseconds(header: string | string[] | undefined): number | null {
  const value = Number.parseFloat(String(header ?? ""));
  return Number.isFinite(value) ? value / 1000 : null;
}

function fromSecondsOrDate(header: string | string[] | undefined, nowMs: number): number | null {
  const text = String(header ?? "").trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number.parseFloat(text);
  const dateMs = Date.parse(text);
  return text === "" || Number.isNaN(dateMs) ? null : (dateMs - nowMs) / 1000;
}
