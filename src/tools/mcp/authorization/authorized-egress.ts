import type { GuardedCall } from "@antiphon/egress/egress.ts";
import type { OpenedReply } from "@antiphon/egress/open-reply.ts";
import type { McpAddress, McpOptions, McpServer } from "../mcp-server.ts";
import { AuthorizationFailed } from "./authorization-failed.ts";
import { AuthorizationWanted, mayChallenge, wantedAuthorization } from "./authorization-wanted.ts";
import type { TokenSource } from "./token-source.ts";

type ServerEgress = McpOptions["egress"];

export interface Authorization {
  readonly server: Pick<McpServer, "label" | "tokenPlace">;
  readonly address: McpAddress;
  /** Null if the headers of the server have its token, or nobody has one. */
  readonly tokens: TokenSource | null;
}

/**
 * Calls of one server, with its token. A refused token is replaced once, because the server did nothing with the call.
 * They reject with `AuthorizationWanted` where there is no token that the server accepts.
 */
export function authorizedEgress(egress: ServerEgress, { server, address, tokens }: Authorization): ServerEgress {
  const { origin } = new URL(address.url);
  const callGuarded: ServerEgress["callGuarded"] = async (url, call) => {
    // An address of a stream can be on another server, which must not get the token.
    const source = URL.parse(url)?.origin === origin ? tokens : null;
    const token = (await source?.token(call.signal).catch(unavailable(server))) ?? null;
    const { reply, wanted } = await callWith(egress, url, { call, token, server });
    if (wanted === null) return reply;
    if (source === null) throw wanted;
    const refusal = { challenge: wanted.challenge, isWorthless: wanted.status === UNAUTHORIZED };
    const next = await source.replace(token, refusal, call.signal).catch(unavailable(server));
    if (next === null) throw wanted;
    const again = await callWith(egress, url, { call, token: next, server });
    if (again.wanted !== null) throw again.wanted;
    return again.reply;
  };
  return { callGuarded, openGuarded: async (url, call) => (await callGuarded(url, call)).response() };
}

const UNAUTHORIZED = 401;

interface TokenCall {
  readonly call: GuardedCall;
  readonly token: string | null;
  readonly server: Authorization["server"];
}

async function callWith(
  egress: ServerEgress,
  url: string,
  { call, token, server }: TokenCall,
): Promise<{ readonly reply: OpenedReply; readonly wanted: AuthorizationWanted | null }> {
  const headers = token === null ? call.headers : withToken(call.headers, token);
  const reply = await egress.callGuarded(url, { ...call, headers });
  if (!mayChallenge(reply.status)) return { reply, wanted: null };
  const response = reply.response();
  const hasToken = new Headers(headers).has("authorization");
  const wanted = wantedAuthorization(response, { label: server.label, place: server.tokenPlace, hasToken });
  if (wanted !== null) void response.body?.cancel();
  return { reply: { ...reply, response: () => response }, wanted };
}

function withToken(headers: GuardedCall["headers"], token: string): Headers {
  const all = new Headers(headers);
  all.set("authorization", `Bearer ${token}`);
  return all;
}

function unavailable({ label, tokenPlace }: Authorization["server"]) {
  return (error: unknown): never => {
    throw error instanceof AuthorizationFailed ? AuthorizationWanted.withoutToken(label, tokenPlace, error) : error;
  };
}
