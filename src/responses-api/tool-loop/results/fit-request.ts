import { ApiError } from "@antiphon/base/api-error.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { fitToWindow, type WindowEngine } from "../../window/fit-to-window.ts";
import { fitResults, type ResultRules } from "./fit-results.ts";

const TOO_LONG_CODE = "context_length_exceeded";

/** A request that fits the model's window, as far as its rules allow. */
export interface FittedRequest {
  /** The context with shorter results. No item is missing. */
  readonly items: ModelRequest["items"];
  readonly request: ModelRequest;
}

/** Cuts the results of hosted tools, and leaves out the oldest items if requested. Throws like `fitToWindow`. */
export async function fitRequest(
  engine: WindowEngine,
  request: ModelRequest,
  rules: ResultRules,
  signal: AbortSignal,
): Promise<FittedRequest> {
  const cut = await fitResults(engine, request, rules, signal);
  return { items: cut.items, request: rules.dropsOldest ? await fitToWindow(engine, cut, signal) : cut };
}

/** Like `fitRequest`. A request that still does not fit fails like a refused one. */
export async function fitTurn(
  engine: WindowEngine,
  request: ModelRequest,
  rules: ResultRules,
  signal: AbortSignal,
): Promise<FittedRequest> {
  try {
    return await fitRequest(engine, request, rules, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, type, code, param } = error;
    throw new ModelError(error.message, { status, type, code, param, cause: error });
  }
}

/**
 * The request of a turn that the model server refused as too long, cut again: by now the engine knows the server's own
 * numbers. Throws the refusal if the request cannot be cut, and any other error.
 */
export async function fitRefused(
  engine: WindowEngine,
  request: ModelRequest,
  rules: ResultRules,
  { refusal, signal }: { readonly refusal: unknown; readonly signal: AbortSignal },
): Promise<FittedRequest> {
  if (!(refusal instanceof ModelError) || refusal.code !== TOO_LONG_CODE) throw refusal;
  const fittedRequest = await fitTurn(engine, request, rules, signal);
  if (fittedRequest.request === request) throw refusal;
  return fittedRequest;
}
