/** Most files are ingested within a second; by default, the official clients wait five. */
const POLL_AFTER_MS = "250";

/** The header with the delay before the next poll of an object in progress. */
export function pollAfter({ status }: { readonly status: string }): Readonly<Record<string, string>> {
  return status === "in_progress" ? { "openai-poll-after-ms": POLL_AFTER_MS } : {};
}
