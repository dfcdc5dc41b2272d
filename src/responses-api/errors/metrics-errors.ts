import { ApiError } from "@antiphon/base/api-error.ts";
import { INVALID, invalidRequest } from "./invalid-request.ts";

export function metricsNotShown(): ApiError {
  return invalidRequest(
    403,
    "metrics_not_shown",
    null,
    "Metrics are shown to callers on the server's own machine that come through no proxy. METRICS=open or METRICS_KEY opens them to others.",
  );
}

export function metricsKeyRequired(): ApiError {
  return new ApiError({
    status: 401,
    type: INVALID,
    code: "invalid_api_key",
    message: "Metrics are shown to whoever sends the server's METRICS_KEY: 'Authorization: Bearer METRICS_KEY'.",
    headers: { "WWW-Authenticate": 'Bearer realm="metrics"' },
  });
}
