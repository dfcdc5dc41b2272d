import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { RunsExhausted } from "../runs/index.ts";

/** Why a model server gave no answer. A closed list, so that servers cannot add metric labels. */
export const MODEL_ERROR_REASONS = [
  "authentication",
  "quota",
  "rate_limit",
  "context_length",
  "unknown_model",
  "refused",
  "timeout",
  "unreachable",
  "overloaded",
  "failed",
] as const;

export type ModelErrorReason = (typeof MODEL_ERROR_REASONS)[number];

const BY_CODE: ReadonlyMap<string | null, ModelErrorReason> = new Map([
  ["model_authentication_failed", "authentication"],
  ["insufficient_quota", "quota"],
  ["context_length_exceeded", "context_length"],
  ["model_not_found", "unknown_model"],
]);

const BY_STATUS: ReadonlyMap<number, ModelErrorReason> = new Map([
  [401, "authentication"],
  [402, "quota"],
  [403, "authentication"],
  [404, "unknown_model"],
  [408, "timeout"],
  [429, "rate_limit"],
  [502, "unreachable"],
  [503, "overloaded"],
  [504, "timeout"],
]);

export function modelErrorReason({ code, status }: ModelError): ModelErrorReason {
  return BY_CODE.get(code) ?? BY_STATUS.get(status) ?? (status < 500 ? "refused" : "failed");
}

export const REFUSAL_REASONS = ["runs", "queue", "model", "other"] as const;

/** The reason why a run was not started. */
export function refusalReason(fault: unknown): (typeof REFUSAL_REASONS)[number] {
  if (fault instanceof RunsExhausted) return fault.limit;
  return fault instanceof ModelError ? "model" : "other";
}

/** The reason for logs and traces: one of the closed lists, or the class name of an unexpected error. */
export function faultReason(fault: unknown): string {
  if (fault instanceof ModelError) return modelErrorReason(fault);
  if (fault instanceof RunsExhausted) return fault.limit;
  return fault instanceof Error ? fault.name : "unknown";
}
