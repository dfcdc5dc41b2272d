import { expect, test } from "vitest";
import type { TestServer } from "../kit/test-server.ts";

export const MODEL = "antiphon-built-in";

/** The expected error of a reply. `type` is `invalid_request_error` by default. */
export interface Refusal {
  readonly status?: number;
  readonly code: string;
  readonly param: string | null;
  readonly message: string | RegExp;
  readonly type?: string;
}

/** Members that change a valid create request; `undefined` removes a member. */
export type Members = Readonly<Record<string, unknown>>;

/** By title: the request, and its error. */
export type Cases = Readonly<Record<string, readonly [Members, Refusal]>>;

/** One test per case, titled by the subject and the case. The server is requested when the tests run. */
export function checkEach(server: () => TestServer): (subject: string, cases: Cases) => void {
  return (subject, cases) => {
    test.each(Object.entries(cases))(`${subject} %s`, (_title, [members, refusal]) =>
      checkCreate(server(), members, refusal),
    );
  };
}

/** Sends a valid create request with these changes, and expects exactly this error. */
export async function checkCreate(server: TestServer, members: Members, refusal: Refusal): Promise<void> {
  await checkReply(await server.post("/v1/responses", { model: MODEL, input: "Hi", ...members }), refusal);
}

/** Expects exactly this error object, with members in the reference's order. */
export async function checkReply(reply: Response, refusal: Refusal): Promise<void> {
  const body = await readBody(reply);
  const { status = 400, code, param, message, type = "invalid_request_error" } = refusal;
  const words = typeof message === "string" ? message : expect.stringMatching(message);
  expect({ status: reply.status, body }).toEqual({ status, body: { error: { message: words, type, param, code } } });
  expect(Object.keys(memberOf(body, "error"))).toEqual(["message", "type", "param", "code"]);
  expect(reply.headers.get("content-type")).toBe("application/json");
  expect(reply.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
}

async function readBody(reply: Response): Promise<unknown> {
  return reply.json();
}

function memberOf(body: unknown, name: string): object {
  const member = typeof body === "object" && body !== null ? new Map(Object.entries(body)).get(name) : null;
  return typeof member === "object" && member !== null ? member : {};
}

export function unknown(param: string, hint = ""): Refusal {
  return { code: "unknown_parameter", param, message: `Unknown parameter: '${param}'.${hint}` };
}

export function missing(param: string, hint = ""): Refusal {
  return { code: "missing_required_parameter", param, message: `Missing required parameter: '${param}'.${hint}` };
}

/** `expected` and `got` with their articles. */
export function wrongType(param: string, expected: string, got: string): Refusal {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${got} instead.`;
  return { code: "invalid_type", param, message };
}

/** `supported` is the list as the message shows it. */
export function wrongValue(param: string, value: string, supported: string): Refusal {
  return { code: "invalid_value", param, message: `Invalid value: '${value}'. Supported values are: ${supported}.` };
}

export function outOfBounds(code: string, param: string, breach: string): Refusal {
  return { code, param, message: `Invalid '${param}': ${breach}` };
}

/** An error without a code in the reference: ours repeats the type. */
export function codeless(param: string | null, message: string | RegExp, status = 400): Refusal {
  return { status, code: "invalid_request_error", param, message };
}
