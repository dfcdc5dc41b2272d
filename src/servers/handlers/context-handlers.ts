import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import { validateCompactRequest, validateInputTokensRequest } from "../../../generated/responses-api/validators.js";
import type { ApiContext } from "../../responses-api/access/context.ts";
import { checkContextBody } from "../../responses-api/checks/check-body.ts";
import type { BeginParts } from "../../responses-api/create/begin-response.ts";
import { compactResponse } from "../../responses-api/operations/compact-response.ts";
import { type CountParts, countInputTokens } from "../../responses-api/operations/count-input-tokens.ts";
import type { BodyCheck } from "../../transport/contract.ts";

/** Both bodies are parts of a create call's, and are read as it is. */
export const contextBodyChecks: Readonly<Record<string, BodyCheck>> = {
  countInputTokens: (body) => (body === undefined ? undefined : checkContextBody(body, validateInputTokensRequest)),
  compactResponse: (body) => checkContextBody(body, validateCompactRequest),
};

/** The operations on a context that answer nothing: measure it, shorten it. */
export function contextHandlers(
  parts: BeginParts & CountParts,
): Pick<ResponsesApiHandlers<ApiContext>, "countInputTokens" | "compactResponse"> {
  return { countInputTokens: countInputTokens(parts), compactResponse: compactResponse(parts) };
}
