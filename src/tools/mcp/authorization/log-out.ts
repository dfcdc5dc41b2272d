import type { Egress } from "@antiphon/egress/egress.ts";
import { authorizationFetch, describeIssuer, endpointOf } from "./authorization-server.ts";
import type { Login, LoginFile } from "./login-file.ts";

const REVOKE_MS = 15_000;

/**
 * Removes a login, and asks its authorization server to end it (RFC 7009). Returns whether that server did; null if
 * there was no login.
 */
export async function logOut(
  file: LoginFile,
  egress: Pick<Egress, "openGuarded">,
  signal: AbortSignal,
): Promise<boolean | null> {
  const login = await file.alone(signal, async () => {
    const old = await file.read();
    await file.remove();
    return old;
  });
  if (login === null) return null;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(REVOKE_MS)]);
  return await revoke(login, egress, limit).catch(() => false);
}

async function revoke(login: Login, egress: Pick<Egress, "openGuarded">, signal: AbortSignal): Promise<boolean> {
  const fetch = authorizationFetch(egress, signal);
  const server = await describeIssuer(login.issuer, fetch, login.url);
  const endpoint = await endpointOf(server, "revocation_endpoint", fetch);
  if (endpoint === null) return false;
  const { client_id: id, client_secret: secret } = login.client;
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  if (secret !== undefined) headers.set("authorization", `Basic ${btoa(`${id}:${secret}`)}`);
  const tokens = [
    ["refresh_token", login.refreshToken],
    ["access_token", login.access.value],
  ] as const;
  const replies: boolean[] = [];
  for (const [kind, token] of tokens) {
    if (token === null) continue;
    const body = new URLSearchParams({ token, token_type_hint: kind, client_id: id });
    replies.push((await fetch(endpoint, { method: "POST", headers, body })).ok);
  }
  return replies.every(Boolean);
}
