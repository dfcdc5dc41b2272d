/** Most files are taken in within a second; the official clients wait for five if nothing is said. */
const POLL_AFTER_MS = "250";

/** Says when to ask again for what is still in progress. */
export function pollAfter({ status }: { readonly status: string }): Readonly<Record<string, string>> {
  return status === "in_progress" ? { "openai-poll-after-ms": POLL_AFTER_MS } : {};
}
