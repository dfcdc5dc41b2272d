import { FairSemaphore } from "@antiphon/base/limits/fair-semaphore.ts";
import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { AddressPool } from "./address-pool.ts";
import { type AskTimeouts, askOnce, explainFailure, type OneReply } from "./ask-once.ts";
import { EgressError } from "./egress-error.ts";
import { type EgressPolicy, EgressRules } from "./egress-rules.ts";
import { findRoute, type ResolvedAddress, type ResolveHost, resolveHost } from "./find-route.ts";
import { type OpenedCall, type OpenedReply, openReply } from "./open-reply.ts";
import { readDecodedBody, tooLarge } from "./read-decoded-body.ts";

/** Policy, time limits and log of the guard. */
export interface EgressOptions {
  readonly policy: EgressPolicy;
  readonly timeouts: AskTimeouts & {
    /** Limit of the whole call with redirects and look-ups, in milliseconds. */
    readonly totalMs: number;
  };
  readonly log: Logger;
  /** Shared with the other guards of the process; by default, this guard has its own slots. */
  readonly lookups?: LookupSlots;
  /** Replaces the system's resolver. */
  readonly resolve?: ResolveHost;
}

/** The caller's limits for a reply. */
export interface GuardedRequest {
  readonly bytesMax: number;
  /** Accepted media types, such as `image/png` or `text/*`; null accepts any. A reply without a type is accepted. */
  readonly accept: readonly string[] | null;
  readonly signal: AbortSignal;
  /** The client on whose behalf the call is made; look-ups are shared fairly between clients. */
  readonly caller: string;
}

/** A call of any method. Its headers are sent unchanged, and its signal is its only time limit. */
export type GuardedCall = OpenedCall & Pick<GuardedRequest, "caller">;

/** The whole content of a URL. */
export interface Fetched {
  readonly bytes: Buffer;
  /** The server's media type in lower case and without parameters; null if there is none. */
  readonly mimeType: string | null;
  /** The parameter `charset` of the media type, or null. */
  readonly charset: string | null;
  /** From `Content-Disposition`, otherwise from the end of the path; null if neither contains one. */
  readonly filename: string | null;
}

/** Guards the calls that clients cause. They all use it and reach only permitted destinations. */
export interface Egress {
  /** Fetches a URL. Rejects with `EgressError`, or the reason of `signal` if it aborts. */
  fetchGuarded(url: string, request: GuardedRequest): Promise<Fetched>;
  /** Makes a call like `openGuarded`, and returns JSON without creating a `Response`. */
  callGuarded(url: string, call: GuardedCall): Promise<OpenedReply>;
  /**
   * Makes a call of any method. Resolves with the head of the reply, of any status but a redirect; its body is a stream
   * that must be read or cancelled. A JSON body is already read, and only `text` and `json` of the reply return it.
   * Rejects, and fails the body, with `EgressError` or the reason of `signal`.
   */
  openGuarded(url: string, call: GuardedCall): Promise<Response>;
}

const LOOKUPS_MAX = 3;
const LOOKUPS_PER_CALLER_MAX = 2;
const REDIRECTS_MAX = 5;
const URL_CHARACTERS_MAX = 8192;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Limits how many names are looked up at the same time. */
export type LookupSlots = FairSemaphore;

/**
 * Node looks up names in the same four threads that read files. Slow lookups must not occupy all of them, and one
 * caller must not occupy all slots. So all guards of a process share these slots.
 */
export function newLookupSlots(): LookupSlots {
  return new FairSemaphore(LOOKUPS_MAX, LOOKUPS_PER_CALLER_MAX);
}

/** Creates the guard. Throws `RangeError` for an invalid policy. */
export function createEgress(options: EgressOptions): Egress {
  const rules = new EgressRules(options.policy);
  const { lookups = newLookupSlots() } = options;
  const pool = new AddressPool(options.timeouts.connectMs);
  const callGuarded: Egress["callGuarded"] = async (target, call) => {
    try {
      const url = checkedUrl(target, rules);
      const addresses = await route(url, { ...options, rules, lookups, request: call, signal: call.signal });
      return await openReply(pool.agent(url.origin, addresses), url, call);
    } catch (error) {
      call.signal.throwIfAborted();
      throw egressErrorOf(error, target, options.log);
    }
  };
  return {
    callGuarded,
    async openGuarded(target, call) {
      return (await callGuarded(target, call)).response();
    },
    async fetchGuarded(url, request) {
      const deadline = AbortSignal.timeout(options.timeouts.totalMs);
      const signal = AbortSignal.any([request.signal, deadline]);
      try {
        return await follow(url, { ...options, rules, lookups, request, signal });
      } catch (error) {
        request.signal.throwIfAborted();
        const isLate = deadline.aborted;
        const late = new EgressError("timeout", "The remote server did not send everything in time", error);
        throw egressErrorOf(isLate ? late : error, url, options.log);
      }
    },
  };
}

function egressErrorOf(error: unknown, url: string, log: Logger): EgressError {
  const failure = explainFailure(error);
  log.info({ host: hostOf(url), reason: failure.reason }, "call for a client failed");
  return failure;
}

interface RouteContext extends EgressOptions {
  readonly rules: EgressRules;
  readonly lookups: LookupSlots;
  readonly request: Pick<GuardedRequest, "caller">;
  readonly signal: AbortSignal;
}

function route(url: URL, context: RouteContext): Promise<readonly ResolvedAddress[]> {
  return unlessAborted(
    findRoute(url, context.rules, (host) => lookUp(host, context)),
    context.signal,
  );
}

interface FetchContext extends RouteContext {
  readonly request: GuardedRequest;
}

async function follow(start: string, context: FetchContext): Promise<Fetched> {
  let url = checkedUrl(start, context.rules);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const { rules, timeouts, signal } = context;
    const addresses = await route(url, context);
    const reply = await askOnce(url, addresses, timeouts, signal);
    try {
      const location = REDIRECT_STATUSES.has(reply.status) ? single(reply.headers["location"]) : null;
      if (location === null) return await readReply(reply, url, context.request);
      url = checkedUrl(URL.parse(location, url)?.href ?? "", rules);
    } finally {
      await reply.close();
    }
  }
  throw new EgressError("too_many_redirects", `The URL has more than ${REDIRECTS_MAX} redirects`);
}

/** Occupies its slot until the lookup ends, even if its caller has stopped waiting. */
async function lookUp(host: string, { lookups, request, resolve = resolveHost, signal }: RouteContext) {
  const giveBack = await lookups.take(request.caller, signal);
  return await resolve(host).finally(giveBack);
}

function checkedUrl(text: string, { mode }: EgressRules): URL {
  if (mode === "off")
    throw new EgressError("switched_off", "This server fetches no URLs. The operator can allow it with EGRESS");
  const url = text.length > URL_CHARACTERS_MAX ? null : URL.parse(text);
  if (url === null) throw new EgressError("invalid_url", "The URL is not valid");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new EgressError("invalid_url", "The URL is neither https nor http");
  if (url.username !== "" || url.password !== "")
    throw new EgressError("invalid_url", "The URL holds a user name or a password");
  return url;
}

async function readReply(reply: OneReply, url: URL, request: GuardedRequest): Promise<Fetched> {
  if (reply.status !== 200)
    throw new EgressError("bad_status", `The remote server answered with status ${reply.status}`);
  const type = single(reply.headers["content-type"]);
  const mimeType = type?.split(";")[0]?.trim().toLowerCase() || null;
  if (mimeType !== null && !isAccepted(mimeType, request.accept))
    throw new EgressError("wrong_type", `The URL leads to content of type '${mimeType.slice(0, 100)}'`);
  const length = Number(single(reply.headers["content-length"]) ?? 0);
  if (length > request.bytesMax) throw tooLarge(request.bytesMax);
  const bytes = await readDecodedBody(reply.body, single(reply.headers["content-encoding"]), request.bytesMax);
  return {
    bytes,
    mimeType,
    charset: /;\s*charset="?([\w.:-]+)/i.exec(type ?? "")?.[1]?.toLowerCase() ?? null,
    filename: filenameOf(single(reply.headers["content-disposition"]), url),
  };
}

function isAccepted(mimeType: string, accept: GuardedRequest["accept"]): boolean {
  if (accept === null) return true;
  return accept.some((pattern) =>
    pattern.endsWith("/*") ? mimeType.startsWith(pattern.slice(0, -1)) : mimeType === pattern,
  );
}

function filenameOf(disposition: string | null, url: URL): string | null {
  const filename =
    /\bfilename="?([^";]+)/i.exec(disposition ?? "")?.[1] ?? decodeName(url.pathname.split("/").at(-1) ?? "");
  const bare = filename.replace(/^.*[\\/]/, "").trim();
  return bare === "" ? null : bare.slice(0, 255);
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A percent sign that encodes nothing.
  }
}

function single(header: string | readonly string[] | undefined): string | null {
  return (typeof header === "string" ? header : header?.[0]) ?? null;
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? "";
}
