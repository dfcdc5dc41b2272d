import type { IncomingMessage, ServerResponse } from "node:http";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { RequestRefused } from "./request-refused.ts";

const BODY_BYTES_MAX = 64 * 1024 * 1024;

export type Body = Readonly<Record<string, unknown>>;

/** Rejects with `RequestRefused` if the body is too large or no JSON object. */
export async function readJsonBody(request: IncomingMessage): Promise<Body> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    if (!(piece instanceof Buffer)) continue;
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw new RequestRefused("The body is too large.", { status: 413 });
    pieces.push(piece);
  }
  const body = jsonOrUndefined(Buffer.concat(pieces).toString());
  if (!isRecord(body)) throw new RequestRefused("The body is not a JSON object.");
  return body;
}

export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const status = error instanceof RequestRefused ? error.status : 500;
  const seconds = error instanceof RequestRefused ? error.retryAfterSeconds : null;
  if (seconds !== null) response.setHeader("retry-after", String(seconds));
  if (!(error instanceof RequestRefused)) console.error(error);
  sendJson(response, status, { error: errorBody(error) });
}

export function errorBody(error: unknown): object {
  if (!(error instanceof RequestRefused))
    return { message: "The embedded model failed.", type: "server_error", code: "server_error", param: null };
  const { message, param, code, more, status } = error;
  return { message, type: status === 429 ? "rate_limit_error" : "invalid_request_error", code, param, ...more };
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
}

export function modelList(names: readonly string[], window: number): object {
  const entry = (id: string): object => ({
    id,
    object: "model",
    created: 0,
    owned_by: "embedded",
    max_model_len: window,
  });
  return { object: "list", data: [...new Set(names)].map(entry) };
}

/** Throws `RequestRefused` if the request names another model. */
export function requireServedModel(names: readonly string[], { model }: Body): void {
  if (model === undefined || names.some((name) => name === model)) return;
  throw new RequestRefused(
    `The model ${JSON.stringify(model)} does not exist; there are ${names.map((name) => `'${name}'`).join(" and ")}.`,
    { status: 404, code: "model_not_found", param: "model" },
  );
}
