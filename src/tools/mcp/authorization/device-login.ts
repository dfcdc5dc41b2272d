import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "@antiphon/base/json/records.ts";
import { OAuthError, type OAuthTokens } from "@modelcontextprotocol/client";
import { AuthorizationFailed } from "./authorization-failed.ts";
import { endpointOf } from "./authorization-server.ts";
import { requestTokens, type TokenClient } from "./token-requests.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const SECOND = 1000;
/** Where the server names none (RFC 8628). */
const INTERVAL_SECONDS = 5;
const INTERVAL_SECONDS_MAX = 60;
const LIFE_SECONDS_MAX = 30 * 60;

/** What a person needs to agree on another machine. */
export interface ShownDevice {
  readonly address: string;
  /** The same address with the code in it; null if the server has none. */
  readonly wholeAddress: string | null;
  readonly userCode: string;
}

/** A login that waits for a person. */
export interface WaitingDevice extends ShownDevice {
  readonly deviceCode: string;
  readonly intervalMs: number;
  readonly lifeMs: number;
}

/** Asks for a code that a person types in a browser anywhere (RFC 8628). */
export async function requestDevice(
  { server, client, fetch }: TokenClient,
  scope: string | null,
): Promise<WaitingDevice> {
  const endpoint = await endpointOf(server, "device_authorization_endpoint", fetch);
  if (endpoint === null)
    throw new AuthorizationFailed("its authorization server knows no logins of devices. Log in without --device");
  const form = new URLSearchParams({ client_id: client.client_id, resource: server.resource });
  if (scope !== null) form.set("scope", scope);
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
  if (client.client_secret !== undefined)
    headers.set("authorization", `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}`);
  const reply = await fetch(endpoint, { method: "POST", headers, body: form });
  if (!reply.ok) throw new AuthorizationFailed(`its authorization server refuses devices with status ${reply.status}`);
  return readDevice(await reply.json());
}

/** Asks until the person has agreed. `asking` starts the time limit of one question. */
export async function pollDevice(
  asking: () => TokenClient,
  { deviceCode, intervalMs, lifeMs }: WaitingDevice,
  signal: AbortSignal,
): Promise<OAuthTokens> {
  const until = Date.now() + lifeMs;
  let waitMs = intervalMs;
  while (Date.now() < until) {
    await sleep(waitMs, undefined, { signal });
    try {
      return await requestTokens(asking(), { grant_type: GRANT, device_code: deviceCode });
    } catch (error) {
      const code = error instanceof OAuthError ? error.code : "";
      if (code === "slow_down") waitMs += INTERVAL_SECONDS * SECOND;
      else if (code !== "authorization_pending") throw error;
    }
  }
  throw new AuthorizationFailed("nobody agreed before the code ended");
}

function readDevice(reply: unknown): WaitingDevice {
  const unreadable = new AuthorizationFailed("its authorization server answers with what cannot be read");
  if (!isRecord(reply)) throw unreadable;
  const { device_code: deviceCode, user_code: userCode, verification_uri: address, interval } = reply;
  const { verification_uri_complete: whole, expires_in: life } = reply;
  if (typeof deviceCode !== "string" || typeof userCode !== "string" || typeof address !== "string") throw unreadable;
  if (!isWebAddress(address) || /\p{Cc}/u.test(userCode)) throw unreadable;
  const seconds = typeof interval === "number" && interval > 0 ? interval : INTERVAL_SECONDS;
  return {
    deviceCode,
    userCode,
    address,
    wholeAddress: typeof whole === "string" && isWebAddress(whole) ? whole : null,
    intervalMs: Math.min(seconds, INTERVAL_SECONDS_MAX) * SECOND,
    lifeMs: Math.min(typeof life === "number" ? life : LIFE_SECONDS_MAX, LIFE_SECONDS_MAX) * SECOND,
  };
}

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "") && !/[\p{Cc}\s]/u.test(text);
}
