import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import { unknownRoute } from "../errors.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** `GET /metrics`. Answers 404 if `text` is null, because metrics are switched off. */
export function getMetrics(text: (() => Promise<string>) | null): LocalSttHandlers<unknown>["getMetrics"] {
  return async () => {
    if (text === null) throw unknownRoute("GET", "/metrics");
    return { status: 200, text: await text(), contentType: CONTENT_TYPE };
  };
}
