import { silentLogger } from "@antiphon/base/logger.ts";
import { nearestWord } from "@antiphon/base/nearest-word.ts";
import { serveLoopbackPage } from "@antiphon/http-kit/http/loopback-page.ts";
import { type Config, type Environment, loadConfig } from "../../config/load-config.ts";
import { type McpServerEntry, readMcpServers } from "../../config/mcp-servers-file.ts";
import { chooseEgress } from "../../servers/choices/choose-egress.ts";
import { mcpLoginsFolder } from "../../servers/choices/choose-mcp.ts";
import { LoginFile } from "../../tools/mcp/authorization/login-file.ts";
import { MisusedCommand, readCommandArguments } from "../misused-command.ts";
import { McpCommandError } from "./mcp-command-error.ts";

const USAGE = `Usage: antiphon mcp
       antiphon mcp login NAME [--device] [--port N] [--scope SCOPES]
       antiphon mcp logout NAME

Without an action, lists the servers of MCP_SERVERS_FILE, and where their authorization comes from.
login gets tokens for the server NAME from its OAuth authorization server: it prints an address, and whoever opens it in a browser of this machine agrees there. --device is for a machine without a browser: it prints a code for a browser anywhere, if the authorization server knows such logins. Running servers use the login at once, and renew it by themselves.
--port is the port of 127.0.0.1 to which the browser comes back, where a client that you registered by hand names one. --scope names scopes, separated by spaces, beside those of the file or the server and those of the login before.
logout ends the login and removes its tokens.
--data-dir locates the logins, like the setting of the same name.`;

const PORT_MAX = 65_535;

interface Output {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
}

/** Runs `mcp …`. Throws `McpCommandError`, `MisusedCommand`, `ConfigError` or the signal's reason. */
export async function runMcpCommand(
  argv: readonly string[],
  environment: Environment,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { values, positionals } = readCommandArguments(argv, OPTIONS, mcpMisuse);
  if (values.help === true) return output.print(USAGE);
  const [action = "list", name, ...more] = positionals;
  const dataDir = values["data-dir"];
  const config = loadConfig(environment, dataDir === undefined ? [] : ["--data-dir", dataDir]);
  if (action === "list" && name === undefined) return await listServers(config, output);
  if (action !== "login" && action !== "logout") throw mcpMisuse(`mcp has no '${action}'.`);
  if (name === undefined || more.length > 0) throw mcpMisuse(`${action} needs the name of one server.`);
  const server = remoteServer(config, name);
  const file = new LoginFile(mcpLoginsFolder(config), name);
  if (action === "logout") return await logOutAt(server, { config, file, output }, signal);
  const port = portOf(values.port);
  const wishes = { isDevice: values.device === true, port, scope: values.scope ?? "" };
  return await logInAt(server, { config, file, output, ...wishes }, signal);
}

interface Login {
  readonly config: Config;
  readonly file: LoginFile;
  readonly output: Output;
}

type RemoteServer = McpServerEntry & { readonly url: string; readonly oauth: NonNullable<McpServerEntry["oauth"]> };

async function logInAt(
  { label, url, oauth }: RemoteServer,
  wishes: Login & { readonly isDevice: boolean; readonly port: number; readonly scope: string },
  signal: AbortSignal,
): Promise<void> {
  const { config, file, output, isDevice, port, scope } = wishes;
  const { logIn } = await import("../../tools/mcp/authorization/log-in.ts");
  const { AuthorizationFailed } = await import("../../tools/mcp/authorization/authorization-failed.ts");
  const show = (address: string): void => {
    output.note("Open this address in a browser of this machine, and agree:");
    output.print(address);
  };
  const showDevice = (
    device: Parameters<Extract<Parameters<typeof logIn>[1], { type: "device" }>["show"]>[0],
  ): void => {
    output.note(`Open ${device.address} in any browser, and type this code:`);
    output.print(device.userCode);
    if (device.wholeAddress !== null) output.note(`Or open ${device.wholeAddress}`);
  };
  const way = isDevice
    ? ({ type: "device", show: showDevice } as const)
    : ({ type: "browser", servePage: serveLoopbackPage, port, show } as const);
  const egress = chooseEgress(config, silentLogger).operatorEgress;
  try {
    const old = await file.read();
    const moreScopes = [old?.url === url ? (old.scope ?? "") : "", scope].join(" ");
    const login = await logIn({ url, settings: oauth, moreScopes, egress }, way, signal);
    await file.alone(signal, () => file.write(login));
    const scopes = login.scope === null || login.scope === "" ? "" : `, with the scopes ${login.scope}`;
    const end =
      login.refreshToken === null ? " The server gave no refresh token, so the login ends with its token." : "";
    output.note(`Logged in at '${label}'${scopes}.${end}`);
  } catch (error) {
    if (!(error instanceof AuthorizationFailed)) throw error;
    throw new McpCommandError(`There is no login at '${label}': ${error.message}.`, { cause: error });
  }
}

async function logOutAt({ label }: RemoteServer, { config, file, output }: Login, signal: AbortSignal): Promise<void> {
  const { logOut } = await import("../../tools/mcp/authorization/log-out.ts");
  const isEnded = await logOut(file, chooseEgress(config, silentLogger).operatorEgress, signal);
  if (isEnded === null) throw new McpCommandError(`There is no login at '${label}'.`);
  const tail = isEnded ? "" : " Its authorization server was not told: its tokens may work until they end.";
  output.note(`Logged out at '${label}'.${tail}`);
}

async function listServers(config: Config, { print, note }: Output): Promise<void> {
  const servers = readMcpServers(config.mcpServersFile);
  if (servers.length === 0) note("MCP_SERVERS_FILE names no servers.");
  for (const server of servers) print([server.label, placeOf(server), await stateOf(server, config)].join("  "));
}

function placeOf({ url, command }: McpServerEntry): string {
  if (url === null) return command ?? "";
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

async function stateOf(
  { label, url, oauth, headers, forwardsAuthorization }: McpServerEntry,
  config: Config,
): Promise<string> {
  if (url === null) return "program";
  if (oauth?.grant === "client_credentials") return "client credentials";
  if (oauth === null) return forwardsAuthorization ? "authorization of the request" : "authorization of the file";
  const login = await new LoginFile(mcpLoginsFolder(config), label).read();
  const current = login?.url === url ? login : null;
  if (current === null) return Object.keys(headers).length > 0 ? "no login, headers of the file" : "no login";
  const isEnded =
    current.isOver || (current.refreshToken === null && (current.access.expiresAt ?? Infinity) < Date.now());
  return isEnded ? `login has ended: antiphon mcp login ${label}` : "logged in";
}

function remoteServer(config: Config, name: string): RemoteServer {
  const servers = readMcpServers(config.mcpServersFile);
  const server = servers.find(({ label }) => label === name);
  if (server === undefined) {
    const nearest = nearestWord(
      name,
      servers.map(({ label }) => label),
    );
    throw new McpCommandError(
      `MCP_SERVERS_FILE has no server '${name}'.${nearest === null ? "" : ` Did you mean '${nearest}'?`}`,
    );
  }
  const { url, oauth } = server;
  if (url === null) throw new McpCommandError(`'${name}' is a program, which needs no login.`);
  if (oauth === null)
    throw new McpCommandError(`'${name}' has its authorization from the file or the request. Remove that first.`);
  if (oauth.grant !== "login") throw new McpCommandError(`'${name}' has a client of its own, which needs no login.`);
  return { ...server, url, oauth };
}

function portOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port === 0 || port > PORT_MAX) throw mcpMisuse(`--port '${text}' is not a port.`);
  return port;
}

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  device: { type: "boolean" },
  port: { type: "string" },
  scope: { type: "string" },
  "data-dir": { type: "string" },
} as const;

function mcpMisuse(problem: string): MisusedCommand {
  return new MisusedCommand(problem, USAGE);
}
