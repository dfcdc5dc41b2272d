import type { ToolRefusal } from "@antiphon/domain/hosted-tool.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type McpInput, type McpOptions, operatorServerOf } from "./mcp-server.ts";

const LABEL = /^[\w-]{1,64}$/;
const HEADERS_MAX = 32;
const HEADER_BYTES_MAX = 8192;
const AUTHORIZATION_CHARACTERS_MAX = 16_384;
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,128}$/;
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
/** Headers that belong to the connection or to the protocol. */
const OWN_HEADERS =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|mcp-.*)$/i;

/** Why an `mcp` tool cannot be used as requested; null if it can. */
export function mcpRefusal(tool: McpInput, options: McpOptions, owner: Owner): ToolRefusal | null {
  if (options.mode === "off")
    return neededRefusal("MCP is switched off on this server. Its operator can set MCP=on.", null);
  if (!LABEL.test(tool.server_label))
    return invalid("A label has 1 to 64 letters, digits, '_' and '-'.", "server_label");
  return placeRefusal(tool, options, owner) ?? headersRefusal(tool);
}

function placeRefusal(tool: McpInput, options: McpOptions, owner: Owner): ToolRefusal | null {
  if (tool.tunnel_id != null) return neededRefusal("Tunnels are not part of this server. Use server_url.", "tunnel_id");
  if (tool.server_url != null && tool.connector_id != null)
    return invalid("A server is named by server_url or by connector_id, not by both.", "connector_id");
  const operators = operatorServerOf(options, tool, owner);
  if (operators !== null) return secretsRefusal(tool, operators.forwardsAuthorization);
  if (tool.connector_id != null)
    return neededRefusal("Connectors are not part of this server. Use server_url.", "connector_id");
  if (options.mode === "operator")
    return neededRefusal(
      "This server only uses the MCP servers of its operator. Name one by its server_label.",
      "server_url",
    );
  if (tool.server_url == null)
    return invalid("This server has no MCP server of this label. Give its server_url.", "server_url");
  const { protocol, username, password } = URL.parse(tool.server_url) ?? { protocol: "", username: "", password: "" };
  if (protocol !== "https:" && protocol !== "http:") return invalid("The URL is neither https nor http.", "server_url");
  if (username !== "" || password !== "")
    return invalid("The URL holds a user name or a password. Use authorization.", "server_url");
  return null;
}

/** The operator sets the headers of configured servers. */
function secretsRefusal(tool: McpInput, forwardsAuthorization: boolean): ToolRefusal | null {
  if (tool.headers != null && Object.keys(tool.headers).length > 0)
    return invalid("The operator of this server sets the headers of this MCP server.", "headers");
  if (tool.authorization != null && !forwardsAuthorization)
    return invalid("The operator of this server sets the authorization of this MCP server.", "authorization");
  return null;
}

function headersRefusal({ headers, authorization }: McpInput): ToolRefusal | null {
  const fields = Object.entries(headers ?? {});
  if (fields.length > HEADERS_MAX) return invalid(`At most ${HEADERS_MAX} headers are sent.`, "headers");
  for (const [name, value] of fields) {
    if (!HEADER_NAME.test(name)) return invalid("A header has a name that cannot be sent.", "headers");
    if (OWN_HEADERS.test(name)) return invalid(`The header '${name}' is set by this server.`, "headers");
    if (name.length + value.length > HEADER_BYTES_MAX || !HEADER_VALUE.test(value))
      return invalid(`The value of the header '${name}' is too long or cannot be sent.`, "headers");
  }
  if (authorization != null && !/^[\u0021-\u007e]+$/.test(authorization))
    return invalid("The token holds a space or a character that cannot be sent in a header.", "authorization");
  if (authorization != null && authorization.length > AUTHORIZATION_CHARACTERS_MAX)
    return invalid("The token is too long.", "authorization");
  return null;
}

function neededRefusal(reason: string, member: string | null): ToolRefusal {
  return { reason, member, grade: "needed" };
}

function invalid(reason: string, member: string): ToolRefusal {
  return { reason, member, grade: "invalid" };
}
