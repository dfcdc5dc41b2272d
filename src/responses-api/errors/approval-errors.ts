import type { ApiError } from "@antiphon/base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";

/** The error for an unusable approval of an MCP call. `message` is a whole sentence. */
export function invalidApproval(message: string): ApiError {
  return invalidRequest(400, "invalid_value", "input", message);
}

/** The error for an approval that another response has used or is using. Not 409, which official clients retry. */
export function approvalSpent(requestId: string): ApiError {
  return invalidRequest(400, "approval_spent", "input", `Approval request '${requestId}' was used already.`);
}
