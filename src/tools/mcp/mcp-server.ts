import { isRecord } from "@antiphon/base/json/records.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import { isAmongOwners } from "@antiphon/domain/models/model-policy.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import type { OAuthSettings, TokenPlace } from "./authorization/token-place.ts";
import type { AllowedTools, RequireApproval } from "./tool-filter.ts";

export type McpInput = Extract<ToolInput, { type: "mcp" }>;

/** A program that speaks MCP on its standard input and output. Only the operator can configure one. */
export interface McpProgram {
  readonly type: "program";
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface McpAddress {
  readonly type: "url";
  readonly url: string;
  /** Sent with every request. May be secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A server configured by the operator. Requests name it by its label or by its connector. */
export interface OperatorServer {
  readonly label: string;
  readonly reach: McpAddress | McpProgram;
  readonly description: string | null;
  readonly allowedTools: AllowedTools;
  /** The default for requests. */
  readonly requireApproval: RequireApproval;
  /** Whether a request may ask for less approval. Otherwise calls that need approval do so whatever it says. */
  readonly allowsLessApproval: boolean;
  /** Names of tools that do no more if a call is repeated with the same key, beside those that say so themselves. */
  readonly idempotent?: readonly string[];
  /** Its allowed owners, as `organization` or `organization/project`; everybody if null. */
  readonly owners: readonly string[] | null;
  readonly connectorIds: readonly string[];
  /** The default for requests; `decline` if absent. */
  readonly elicitation?: "ask" | "decline";
  /** Whether the request's `authorization` is sent to it. */
  readonly forwardsAuthorization: boolean;
  /** How this server gets access tokens for it; none if it needs none, or `reach` has them. */
  readonly oauth?: OAuthSettings | null;
}

export interface McpOptions {
  /** `operator`: only the operator's servers. */
  readonly mode: "on" | "operator" | "off";
  readonly servers: readonly OperatorServer[];
  /** For URLs from requests. */
  readonly egress: Pick<Egress, "callGuarded" | "openGuarded">;
  /** For URLs from the operator. */
  readonly operatorEgress: Pick<Egress, "callGuarded" | "openGuarded">;
  /** Where logins of the operator at his servers are kept. */
  readonly loginsFolder: string;
  readonly listTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** The maximum of running programs; one more waits for a place within `listTimeoutMs`. */
  readonly programsMax: number;
  /** How long an unused program is kept for its chain of responses; 0 ends it with its response. */
  readonly programIdleMs: number;
  /** The maximum tools that one server may offer to one response. */
  readonly toolsMax: number;
  /** The maximum characters of a shown result. */
  readonly outputCharactersMax: number;
  /** The version of this program, sent to servers. */
  readonly version: string;
  /**
   * Whether the answer to a question reaches this process, in which calls of the older protocols wait for it. Otherwise
   * only servers of the newer protocol can ask.
   */
  readonly isOnlyProcess: boolean;
  readonly log: Logger;
}

/** A server from one response's view. */
export interface McpServer {
  readonly label: string;
  readonly reach: McpAddress | McpProgram;
  readonly isOperators: boolean;
  /** Whether its questions to the user are passed to the client. */
  readonly asksUser: boolean;
  readonly tokenPlace: TokenPlace;
  /** As in `OperatorServer`; empty for servers from the request. */
  readonly idempotent: readonly string[];
  /** The operator's limits; null for servers from the request. */
  readonly limits: Pick<OperatorServer, "allowedTools" | "requireApproval"> | null;
  readonly description: string | null;
}

/** The operator's server for a tool; null if the tool brings its own, or none matches. */
export function operatorServerOf(
  { servers }: Pick<McpOptions, "servers">,
  tool: McpInput,
  owner: Owner,
): OperatorServer | null {
  if (tool.server_url != null) return null;
  const { connector_id: connector, server_label: label } = tool;
  const match = servers.find((server) =>
    connector == null ? server.label === label : server.connectorIds.includes(connector),
  );
  return match !== undefined && isAmongOwners(match.owners, owner) ? match : null;
}

/** The server of a tool that was not refused. */
export function serverOf(options: Pick<McpOptions, "servers">, tool: McpInput, owner: Owner): McpServer | null {
  const operators = operatorServerOf(options, tool, owner);
  const description = tool.server_description ?? null;
  const asksUser = tool.elicitation === "ask";
  if (operators === null) {
    if (tool.server_url == null) return null;
    const reach: McpAddress = { type: "url", url: tool.server_url, headers: mcpHeaders(tool) };
    const tokenPlace = { type: "request" } as const;
    return {
      label: tool.server_label,
      reach,
      isOperators: false,
      asksUser,
      tokenPlace,
      idempotent: [],
      limits: null,
      description,
    };
  }
  return {
    label: tool.server_label,
    reach: operators.forwardsAuthorization ? withAuthorization(operators.reach, tool) : operators.reach,
    isOperators: true,
    asksUser,
    tokenPlace: operatorsTokenPlace(operators, tool),
    idempotent: operators.idempotent ?? [],
    limits: {
      allowedTools: operators.allowedTools,
      requireApproval: operators.allowsLessApproval ? null : operators.requireApproval,
    },
    description: description ?? operators.description,
  };
}

function operatorsTokenPlace({ label, reach, oauth = null, ...operators }: OperatorServer, tool: McpInput): TokenPlace {
  const isForwarded = operators.forwardsAuthorization && (tool.authorization != null || oauth === null);
  if (isForwarded) return { type: "request" };
  if (oauth === null || reach.type === "program") return { type: "headers", label };
  return { type: "oauth", label, url: reach.url, settings: oauth };
}

function mcpHeaders(tool: McpInput): Readonly<Record<string, string>> {
  const own = isRecord(tool.headers) ? tool.headers : {};
  if (tool.authorization == null) return own;
  const others = Object.entries(own).filter(([name]) => name.toLowerCase() !== "authorization");
  return { ...Object.fromEntries(others), authorization: `Bearer ${tool.authorization}` };
}

function withAuthorization(reach: OperatorServer["reach"], { authorization }: McpInput): OperatorServer["reach"] {
  if (reach.type !== "url" || authorization == null) return reach;
  const others = Object.entries(reach.headers).filter(([name]) => name.toLowerCase() !== "authorization");
  return { ...reach, headers: { ...Object.fromEntries(others), authorization: `Bearer ${authorization}` } };
}
