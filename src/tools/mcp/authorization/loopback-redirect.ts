import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import { AuthorizationFailed } from "./authorization-failed.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";
const STATE_BYTES = 32;
const CONNECTIONS_MAX = 16;
/** How long a person may take. */
const ANSWER_MS = 10 * 60_000;
const ERROR_CODE = /^[a-z_]{1,64}$/;

/** A page of this machine to which the authorization server sends the browser (RFC 8252). */
export interface LoopbackRedirect {
  readonly url: string;
  /** Comes back with the answer. An answer without it belongs to nobody and is ignored. */
  readonly state: string;
  /** Rejects with `AuthorizationFailed`, also where nobody answers in ten minutes, or with the signal's reason. */
  answer(signal: AbortSignal): Promise<{ readonly code: string; readonly iss: string | null }>;
  close(): void;
}

/** Listens on the loopback interface. Port 0 takes any free one. Rejects with the system's error. */
export async function openRedirect(port: number): Promise<LoopbackRedirect> {
  const state = randomBytes(STATE_BYTES).toString("base64url");
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", `http://${HOST}`);
    if (pathname !== PATH || request.method !== "GET") return sendPage(response, 404, "There is no such page.");
    if (!isSame(searchParams.get("state") ?? "", state))
      return sendPage(
        response,
        400,
        "This answer belongs to another login. Open the newest address of antiphon mcp login.",
      );
    const isAgreed = searchParams.has("code");
    sendPage(response, 200, isAgreed ? "Antiphon has the answer. You can close this page." : "The login was refused.");
    resolve(searchParams);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((opened, failed) => {
    server.once("error", failed);
    server.listen(port, HOST, opened);
  });
  const address = server.address();
  const open = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${HOST}:${open}${PATH}`,
    state,
    answer: async (signal) => readAnswer(await unlessAborted(promise, AbortSignal.any([signal, lateSignal()]))),
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function readAnswer(answer: URLSearchParams): { readonly code: string; readonly iss: string | null } {
  const code = answer.get("code");
  if (code !== null) return { code, iss: answer.get("iss") };
  const error = answer.get("error") ?? "";
  throw new AuthorizationFailed(`the login was refused${ERROR_CODE.test(error) ? `: '${error}'` : ""}`);
}

function lateSignal(): AbortSignal {
  const late = new AbortController();
  setTimeout(() => late.abort(new AuthorizationFailed("nobody agreed within ten minutes")), ANSWER_MS).unref();
  return late.signal;
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function sendPage(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer", // The address has the code.
    connection: "close",
  });
  response.end(`${sentence}\n`);
}
