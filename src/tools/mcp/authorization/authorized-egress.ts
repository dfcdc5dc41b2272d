import type { GuardedCall } from "@antiphon/egress/egress.ts";
import type { OpenedReply } from "@antiphon/egress/open-reply.ts";
import type { McpOptions, McpServer } from "../mcp-server.ts";
import { mayChallenge, wantedAuthorization } from "./authorization-wanted.ts";

type ServerEgress = McpOptions["egress"];

/** Calls of one server. They reject with `AuthorizationWanted` where the server asks for an access token. */
export function authorizedEgress(egress: ServerEgress, server: Pick<McpServer, "label" | "tokenPlace">): ServerEgress {
  const callGuarded: ServerEgress["callGuarded"] = async (url, call) => {
    const reply = await egress.callGuarded(url, call);
    return mayChallenge(reply.status) ? refusedReply(reply, call, server) : reply;
  };
  return { callGuarded, openGuarded: async (url, call) => (await callGuarded(url, call)).response() };
}

function refusedReply(
  reply: OpenedReply,
  { headers }: GuardedCall,
  { label, tokenPlace: place }: Pick<McpServer, "label" | "tokenPlace">,
): OpenedReply {
  const response = reply.response();
  const wanted = wantedAuthorization(response, { label, place, hasToken: new Headers(headers).has("authorization") });
  if (wanted === null) return { ...reply, response: () => response };
  void response.body?.cancel();
  throw wanted;
}
