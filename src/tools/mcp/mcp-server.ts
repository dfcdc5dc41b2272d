import type { ToolInput } from "../../../generated/responses-api/types.ts";
import { isRecord } from "../../base/json/records.ts";
import type { Logger } from "../../base/logger.ts";
import type { Egress } from "../../egress/egress.ts";
import type { Owner } from "../../runs/ports/owner.ts";
import type { AllowedTools, RequireApproval } from "./tool-filter.ts";

export type McpInput = Extract<ToolInput, { type: "mcp" }>;

/** A program that speaks MCP on its standard input and output. Only the operator can name one. */
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
  /** Sent with every request. They may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A server that the operator set up. Requests name it by its label or by a connector that it stands for. */
export interface OperatorServer {
  readonly label: string;
  readonly reach: McpAddress | McpProgram;
  readonly description: string | null;
  readonly allowedTools: AllowedTools;
  /** Calls that need approval, whatever the request says, and the default of requests that say nothing. */
  readonly requireApproval: RequireApproval;
  /** Who may use it, as `organization` or `organization/project`; everybody if null. */
  readonly owners: readonly string[] | null;
  readonly connectorIds: readonly string[];
  /** Whether the request's `authorization` is sent to it. */
  readonly forwardsAuthorization: boolean;
}

export interface McpOptions {
  /** `operator`: only the servers of the operator. */
  readonly mode: "on" | "operator" | "off";
  readonly servers: readonly OperatorServer[];
  /** For the URLs of requests. */
  readonly egress: Pick<Egress, "callGuarded" | "openGuarded">;
  /** For the URLs of the operator. */
  readonly operatorEgress: Pick<Egress, "callGuarded" | "openGuarded">;
  readonly listTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Most tools that one server may offer to one response. */
  readonly toolsMax: number;
  /** Most characters of a result that are shown. */
  readonly outputCharactersMax: number;
  /** Of this program; servers are told. */
  readonly version: string;
  readonly log: Logger;
}

/** A server as one response uses it. */
export interface McpServer {
  readonly label: string;
  readonly reach: McpAddress | McpProgram;
  readonly isOperators: boolean;
  /** What the operator allows; null for servers of the request. */
  readonly limits: Pick<OperatorServer, "allowedTools" | "requireApproval"> | null;
  readonly description: string | null;
}

/** The operator's server that a tool means; null if it brings its own, or means none. */
export function operatorServerOf(
  { servers }: Pick<McpOptions, "servers">,
  tool: McpInput,
  owner: Owner,
): OperatorServer | null {
  if (tool.server_url != null) return null;
  const { connector_id: connector, server_label: label } = tool;
  const found = servers.find((server) =>
    connector == null ? server.label === label : server.connectorIds.includes(connector),
  );
  return found !== undefined && mayUse(found, owner) ? found : null;
}

/** The server that a tool means. It was not refused before. */
export function serverOf(options: Pick<McpOptions, "servers">, tool: McpInput, owner: Owner): McpServer | null {
  const operators = operatorServerOf(options, tool, owner);
  const description = tool.server_description ?? null;
  if (operators === null) {
    if (tool.server_url == null) return null;
    const reach: McpAddress = { type: "url", url: tool.server_url, headers: mcpHeaders(tool) };
    return { label: tool.server_label, reach, isOperators: false, limits: null, description };
  }
  return {
    label: tool.server_label,
    reach: operators.forwardsAuthorization ? withAuthorization(operators.reach, tool) : operators.reach,
    isOperators: true,
    limits: operators,
    description: description ?? operators.description,
  };
}

function mayUse({ owners }: OperatorServer, { organization, project }: Owner): boolean {
  return owners === null || owners.includes(organization) || owners.includes(`${organization}/${project}`);
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
