import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { runMcpCommand } from "../../../src/commands/mcp/mcp-command.ts";
import { McpCommandError } from "../../../src/commands/mcp/mcp-command-error.ts";
import { MisusedCommand } from "../../../src/commands/misused-command.ts";
import { startChildServer } from "../../kit/child-server.ts";
import { temporaryFolder } from "../../kit/temporary-folder.ts";
import { startTestServer } from "../../kit/test-server.ts";
import { readResponse } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { CLIENT } from "./authorization-server.ts";
import { BANK_SCENARIO, type GuardedServer, PAY, startGuarded } from "./guarded-server.ts";

const MAIN = join(import.meta.dirname, "../../../src/main.ts");

/** An MCP server that wants a token, and the settings of a server that names it `bank`. */
async function bankOf(oauth = "", guard: Parameters<typeof startGuarded>[0] = {}) {
  const mcp = await startGuarded(guard);
  const folder = temporaryFolder();
  const file = join(folder, "servers.yaml");
  const member = oauth === "" ? "" : `, oauth: { ${oauth} }`;
  await writeFile(file, `servers: { bank: { url: "${mcp.url}"${member} }, tool: { command: x } }`);
  return { mcp, env: { DATA_DIR: join(folder, "data"), MCP_SERVERS_FILE: file } };
}

interface Run {
  readonly printed: readonly string[];
  readonly noted: readonly string[];
}

/** Runs `antiphon mcp …`. `onPrint` is the person who reads what it prints. */
async function command(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  onPrint: (text: string) => unknown = () => {},
): Promise<Run> {
  const printed: string[] = [];
  const noted: string[] = [];
  const print = (text: string): void => {
    printed.push(text);
    onPrint(text);
  };
  await runMcpCommand(args, env, { print, note: (text) => noted.push(text) }, new AbortController().signal);
  return { printed, noted };
}

/** Opens the address like a browser, which follows the redirect to the command. */
async function agree(address: string): Promise<string> {
  return await (await fetch(address)).text();
}

async function logIn(env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<Run> {
  return await command(env, ["login", "bank", ...args], (address) => void agree(address));
}

function loginFile({ DATA_DIR }: { readonly DATA_DIR: string }): string {
  return join(DATA_DIR, "mcp-logins", "bank.json");
}

/** The server, and everything that it logs. */
async function serve(env: Readonly<Record<string, string>>) {
  const logged: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
  const server = await startTestServer({ scenario: BANK_SCENARIO, log, env: { ...env, KEEP_EXCHANGES: "stored" } });
  return { server, pay: () => server.post("/v1/responses", PAY), logged };
}

function expectNoSecrets({ authorization }: GuardedServer, seen: unknown): void {
  const text = JSON.stringify(seen);
  for (const secret of authorization.secrets) expect(text).not.toContain(secret);
}

describe("antiphon mcp login", () => {
  test("gets tokens for a running server through a browser, and logout ends them", async () => {
    verifies("tools.mcp.login-by-browser");
    const { mcp, env } = await bankOf();
    const { server, pay, logged } = await serve(env);
    const before = await pay();
    expect(before.status).toBe(424);
    expect(await before.text()).toContain("Its operator can log in: antiphon mcp login bank.");

    const child = spawn(process.execPath, [MAIN, "mcp", "login", "bank"], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const said: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (piece: string) => said.push(piece));
    const lines = createInterface({ input: child.stdout });
    const address = await new Promise<string>((resolve) => lines.once("line", resolve));
    const asked = new URL(address);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      resource: mcp.url,
      scope: "tickets:read",
    });
    const redirect = asked.searchParams.get("redirect_uri") ?? "";
    expect(redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const forged = await fetch(`${redirect}?code=forged&state=${"x".repeat(43)}`);
    expect([forged.status, await forged.text()]).toEqual([400, expect.stringContaining("another login")]);
    expect(await agree(address)).toContain("You can close this page.");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(said.join("")).toContain("Logged in at 'bank', with the scopes tickets:read.");
    expectNoSecrets(mcp, [address, said]);
    expect(mcp.authorization.requests).toMatchObject([{ grant_type: "authorization_code", resource: mcp.url }]);

    expect((await stat(loginFile(env))).mode & 0o777).toBe(0o600);
    expect((await stat(join(env.DATA_DIR, "mcp-logins"))).mode & 0o777).toBe(0o700);
    const body = await readResponse(await pay());
    expect(body.output[1]).toMatchObject({ type: "mcp_call", output: "paid 3" });
    const exchanges = await (await server.fetch(`/v1/responses/${body.id}/exchanges`)).text();
    expect(exchanges).toContain("tools/call");
    expectNoSecrets(mcp, [body, exchanges, logged]);

    expect((await command(env, [])).printed).toEqual([`bank  ${mcp.url}  logged in`, "tool  x  program"]);
    expect((await command(env, ["logout", "bank"])).noted).toEqual(["Logged out at 'bank'."]);
    expect((await command(env, [])).printed[0]).toBe(`bank  ${mcp.url}  no login`);
    expect((await pay()).status).toBe(424);
  });

  test("gets tokens with a code for a browser anywhere", async () => {
    verifies("tools.mcp.login-by-device");
    const { mcp, env } = await bankOf();
    mcp.authorization.behaviour.pendingPolls = 2;
    const { printed, noted } = await command(env, ["login", "bank", "--device", "--scope", "a b"]);
    expect(printed).toEqual(["WDJB-MJHT"]);
    expect(noted[0]).toContain(`Open ${mcp.authorization.issuer}/activate in any browser`);
    expect(noted.at(-1)).toBe("Logged in at 'bank', with the scopes tickets:read a b.");
    expect(mcp.authorization.requests).toHaveLength(3);
    const { pay } = await serve(env);
    expect((await readResponse(await pay())).output[1]).toMatchObject({ output: "paid 3" });
    expectNoSecrets(mcp, [printed, noted]);
  });

  test("finds what is described by OpenID Connect alone, and says where there is no such login", async () => {
    const { mcp, env } = await bankOf();
    mcp.authorization.behaviour.isOpenId = true;
    await command(env, ["login", "bank", "--device"]);
    expect((await command(env, ["logout", "bank"])).noted).toEqual(["Logged out at 'bank'."]);
    mcp.authorization.behaviour.hasDevices = false;
    await expect(command(env, ["login", "bank", "--device"])).rejects.toThrow("Log in without --device");
  });

  test("takes the client of the file where the server registers none", async () => {
    const { mcp, env } = await bankOf(`client_id: ${CLIENT.id}`);
    mcp.authorization.behaviour.canRegister = false;
    await logIn(env);
    expect(mcp.authorization.requests).toMatchObject([{ client_id: CLIENT.id }]);
    const other = await bankOf();
    other.mcp.authorization.behaviour.canRegister = false;
    await expect(logIn(other.env)).rejects.toThrow("set client_id in oauth of this server");
  });

  test("refuses an answer of another authorization server, and asks for no tokens", async () => {
    verifies("tools.mcp.tokens-go-to-their-server");
    const { mcp, env } = await bankOf();
    mcp.authorization.behaviour.redirectIssuer = "https://evil.example";
    await expect(logIn(env)).rejects.toThrow(
      "There is no login at 'bank': its authorization server has another name than it should.",
    );
    expect(mcp.authorization.requests).toEqual([]);
    await expect(readFile(loginFile(env))).rejects.toThrow("ENOENT");
  });

  test("says that the person refused", async () => {
    const { env } = await bankOf();
    const refuse = (address: string): void => {
      const { searchParams } = new URL(address);
      const query = new URLSearchParams({ error: "access_denied", state: searchParams.get("state") ?? "" });
      void fetch(`${searchParams.get("redirect_uri")}?${query.toString()}`);
    };
    await expect(command(env, ["login", "bank"], refuse)).rejects.toThrow("the login was refused: 'access_denied'");
  });

  test.each([
    [["login"], MisusedCommand, "login needs the name of one server"],
    [["enter", "bank"], MisusedCommand, "mcp has no 'enter'"],
    [["login", "bank", "--port", "x"], MisusedCommand, "--port 'x' is not a port"],
    [["login", "bnk"], McpCommandError, "no server 'bnk'. Did you mean 'bank'?"],
    [["login", "tool"], McpCommandError, "'tool' is a program"],
    [["logout", "bank"], McpCommandError, "There is no login at 'bank'"],
  ])("says what is wrong with %j", async (args, kind, complaint) => {
    const { env } = await bankOf();
    await expect(command(env, args)).rejects.toThrow(kind);
    await expect(command(env, args)).rejects.toThrow(complaint);
  });
});

describe("a login", () => {
  test("is renewed by two processes, each refresh token once", { timeout: 120_000 }, async () => {
    verifies("tools.mcp.login-is-renewed-once");
    const { mcp, env } = await bankOf();
    mcp.authorization.behaviour.tokenSeconds = 0; // Each token has to be renewed before it is used.
    await logIn(env);
    const servers = await Promise.all([0, 1].map(() => startChildServer({ scenario: BANK_SCENARIO, env })));
    const replies = servers.flatMap((server) => [1, 2, 3].map(() => server.post("/v1/responses", PAY)));
    const bodies = await Promise.all(replies.map(async (reply) => await readResponse(await reply)));
    expect(bodies.map(({ output }) => output[1])).toEqual(
      bodies.map(() => expect.objectContaining({ type: "mcp_call", output: "paid 3", error: null })),
    );
    const renewals = mcp.authorization.requests.filter(({ grant_type: type }) => type === "refresh_token");
    expect(renewals.length).toBeGreaterThan(2);
    expect(new Set(renewals.map((form) => form["refresh_token"])).size).toBe(renewals.length);
    expectNoSecrets(mcp, [bodies, servers.map((server) => server.said())]);
  });

  test("that has ended is told with the next step", async () => {
    verifies("tools.mcp.wanted-token-says-the-next-step");
    const { mcp, env } = await bankOf();
    await logIn(env);
    const { pay, logged } = await serve(env);
    await readResponse(await pay());
    mcp.authorization.revokeAll("all");
    for (const _time of [1, 2]) {
      const reply = await pay();
      const text = await reply.text();
      expect(reply.status).toBe(424);
      expect(text).toContain("the login of the operator has ended. Its operator can log in: antiphon mcp login bank.");
      expectNoSecrets(mcp, [text, logged]);
    }
    expect(mcp.authorization.requests.filter(({ grant_type: type }) => type === "refresh_token")).toHaveLength(1);
    expect((await command(env, [])).printed[0]).toContain("login has ended: antiphon mcp login bank");
    await logIn(env);
    expect((await readResponse(await pay())).output[1]).toMatchObject({ output: "paid 3" });
  });

  test("that lacks a scope is told with the command that gets it beside the others", async () => {
    const { mcp, env } = await bankOf("", { neededScope: "tickets:write" });
    await logIn(env);
    const { pay } = await serve(env);
    const refused = await (await pay()).text();
    expect(refused).toContain("needs a token with the scope 'tickets:write'.");
    expect(refused).toContain("Its operator can log in: antiphon mcp login bank --scope 'tickets:write'.");
    const { noted } = await logIn(env, ["--scope", "tickets:write"]);
    expect(noted.at(-1)).toBe("Logged in at 'bank', with the scopes tickets:read tickets:write.");
    expect((await readResponse(await pay())).output[1]).toMatchObject({ output: "paid 3" });
    expect(mcp.ran).toEqual(["pay 3"]);
  });

  test("that cannot be read is told", async () => {
    const { env } = await bankOf();
    await mkdir(loginFile(env), { recursive: true });
    const { pay } = await serve(env);
    expect(await (await pay()).text()).toContain("its login in the data folder cannot be read.");
  });

  test("is not used for another address of the same name", async () => {
    verifies("tools.mcp.tokens-go-to-their-server");
    const { mcp, env } = await bankOf();
    await logIn(env);
    const other = await startGuarded();
    await writeFile(env.MCP_SERVERS_FILE, `servers: { bank: { url: "${other.url}" } }`);
    const { pay } = await serve(env);
    expect((await pay()).status).toBe(424);
    expect(other.heard.every(({ authorization }) => authorization === undefined)).toBe(true);
    expect(mcp.heard.every(({ authorization }) => authorization === undefined)).toBe(true);
  });
});
