import { randomBytes, timingSafeEqual } from "node:crypto";
import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import { AuthorizationFailed } from "./authorization-failed.ts";

const PATH = "/callback";
const STATE_BYTES = 32;
/** How long a person may take. */
const ANSWER_MS = 10 * 60_000;
const ERROR_CODE = /^[a-z_]{1,64}$/;

/** Serves pages of 127.0.0.1 on a port; 0 is any free one. Rejects with the system's error. */
export type ServePage = (
  port: number,
  answer: (address: URL) => { readonly status: number; readonly text: string },
) => Promise<{ readonly port: number; readonly close: () => void }>;

/** A page of this machine to which the authorization server sends the browser (RFC 8252). */
export interface LoopbackRedirect {
  readonly url: string;
  /** Comes back with the answer. An answer without it belongs to nobody and is ignored. */
  readonly state: string;
  /** Rejects with `AuthorizationFailed`, also where nobody answers in ten minutes, or with the signal's reason. */
  answer(signal: AbortSignal): Promise<RedirectAnswer>;
  close(): void;
}

interface RedirectAnswer {
  readonly code: string;
  readonly iss: string | null;
}

export async function openRedirect(servePage: ServePage, wantedPort: number): Promise<LoopbackRedirect> {
  const state = randomBytes(STATE_BYTES).toString("base64url");
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
  const { port, close } = await servePage(wantedPort, ({ pathname, searchParams }) => {
    if (pathname !== PATH) return { status: 404, text: "There is no such page." };
    if (!isSame(searchParams.get("state") ?? "", state)) return OF_ANOTHER;
    resolve(searchParams);
    return searchParams.has("code") ? AGREED : REFUSED;
  });
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    state,
    answer: async (signal) => readRedirect(await unlessAborted(promise, AbortSignal.any([signal, lateSignal()]))),
    close,
  };
}

const OF_ANOTHER = {
  status: 400,
  text: "This answer belongs to another login. Open the newest address of antiphon mcp login.",
};
const AGREED = { status: 200, text: "Antiphon has the answer. You can close this page." };
const REFUSED = { status: 200, text: "The login was refused." };

function readRedirect(answer: URLSearchParams): RedirectAnswer {
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
