import type { RunKind } from "../../../generated/responses-api/types.ts";

/** The kind of a request's run. The request need not be valid. */
export function runKind(
  { background, stream }: { readonly background?: unknown; readonly stream?: unknown },
  isOnWebSocket: boolean,
): RunKind {
  if (background === true) return "background";
  if (isOnWebSocket) return "websocket";
  return stream === true ? "streamed" : "plain";
}
