import { useEffect, useState } from "react";
import { APIError } from "../../../packages/client/src/index.ts";

export interface Call<Reply> {
  /** The latest reply; null before the first one. It stays while the next call is under way. */
  readonly reply: Reply | null;
  readonly error: string | null;
  readonly isPending: boolean;
}

/** Calls the server whenever one of `reasons` changes. The call before is aborted. */
export function useCall<Reply>(
  call: (signal: AbortSignal) => Promise<Reply>,
  reasons: readonly unknown[],
): Call<Reply> {
  const [state, setState] = useState<Call<Reply>>({ reply: null, error: null, isPending: true });
  useEffect(() => {
    const controller = new AbortController();
    setState(({ reply }) => ({ reply, error: null, isPending: true }));
    call(controller.signal).then(
      (reply) => {
        if (!controller.signal.aborted) setState({ reply, error: null, isPending: false });
      },
      (error: unknown) => {
        if (!controller.signal.aborted)
          setState(({ reply }) => ({ reply, error: sentenceOf(error), isPending: false }));
      },
    );
    return () => controller.abort();
  }, reasons);
  return state;
}

/** What to tell people about a failed call. */
export function sentenceOf(error: unknown): string {
  if (error instanceof APIError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

export function isNotFound(error: unknown): boolean {
  return error instanceof APIError && error.status === 404;
}
