import { expect, onTestFinished, test } from "vitest";
import type { McpAddress, OperatorServer } from "../../../src/tools/mcp/mcp-server.ts";
import { verifies } from "../../verifies.ts";
import { plainTool, startScripted, toolList } from "./mcp-servers.ts";
import { called, mcpInput, opened, ranCall } from "./opened-tool.ts";

const TOKEN = 'to"ken-0123456789';
const PASSWORD = "correct horse";
const HEADERS = {
  Authorization: `Bearer ${TOKEN}`,
  "X-Login": `Basic ${Buffer.from(`user:${PASSWORD}`).toString("base64")}`,
  "X-Team": "team-of-operators",
};
const QUERY_KEY = "key-of-the-query";
const SECRETS = [TOKEN, JSON.stringify(TOKEN).slice(1, -1), PASSWORD, HEADERS["X-Login"], HEADERS["X-Team"], QUERY_KEY];
const ALL = `${HEADERS.Authorization} and ${SECRETS.join(" and ")}, Bearer tokens`;

/** The server of an operator that repeats the secrets of its headers and its address. */
function quoting(url: string): OperatorServer {
  const reach: McpAddress = { type: "url", url: `${url}?key=${QUERY_KEY}`, headers: HEADERS };
  return {
    label: "shop",
    reach,
    description: null,
    allowedTools: null,
    requireApproval: null,
    owners: null,
    connectorIds: [],
    forwardsAuthorization: false,
    allowsLessApproval: false,
  };
}

/** What comes out of the tool when its server lists these tools and answers each call with this result. */
async function openQuoting(result: object, tools: readonly object[] = [plainTool("one")], isOperators = true) {
  const { url } = await startScripted({ "tools/list": () => toolList(tools), "tools/call": () => result });
  const own = { server_url: url, headers: HEADERS };
  const tool = await opened(mcpInput(isOperators ? {} : own), { options: { servers: [quoting(url)] } });
  onTestFinished(() => tool.close());
  return tool;
}

function expectNoSecret(shown: unknown): void {
  const text = JSON.stringify(shown);
  expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
  expect(text).toContain("[redacted]");
}

test.each([
  ["in a text", { result: { content: [{ type: "text", text: ALL }] } }],
  ["beyond the end of what is shown", { result: { content: [{ type: "text", text: `${TOKEN} `.repeat(200) }] } }],
  ["in structured content", { result: { content: [], structuredContent: { [TOKEN]: ALL } } }],
  ["in a link", { result: { content: [{ type: "resource_link", name: ALL, uri: "a:b" }] } }],
  ["in the result of a tool that fails", { result: { content: [{ type: "text", text: ALL }], isError: true } }],
  ["in an error of the protocol", { error: { code: -32_000, message: `${"x".repeat(190)}${ALL}` } }],
])("a secret that the operator's server repeats %s is redacted", async (_where, result) => {
  verifies("tools.mcp.operators-secrets-are-redacted");
  expectNoSecret(await called(await openQuoting(result), "one"));
});

test("a list of tools is redacted, and a tool with a secret in its name is left out", async () => {
  verifies("tools.mcp.operators-secrets-are-redacted");
  const schema = { type: "object", properties: { [TOKEN]: { type: "string", default: ALL } } };
  const tools = [plainTool("one", { description: ALL, inputSchema: schema }), plainTool(HEADERS["X-Team"])];
  const tool = await openQuoting({}, tools);
  expect(tool.functions.map(({ name }) => name)).toEqual(["one"]);
  expectNoSecret([tool.functions, tool.opening]);
});

test("the error of a list that cannot be had is redacted", async () => {
  verifies("tools.mcp.operators-secrets-are-redacted");
  const { url } = await startScripted({ "tools/list": () => ({ error: { code: -32_000, message: ALL } }) });
  const failure: unknown = await opened(mcpInput(), { options: { servers: [quoting(url)] } }).catch(
    (error: unknown) => error,
  );
  expectNoSecret(failure instanceof Error ? failure.message : "");
});

test("ordinary words and the headers of a request's own server stay as they are", async () => {
  const result = { result: { content: [{ type: "text", text: "Bearer tokens, Basic words" }] } };
  expect(ranCall(await called(await openQuoting(result), "one")).output).toBe("Bearer tokens, Basic words");
  const own = { result: { content: [{ type: "text", text: ALL }] } };
  const tool = await openQuoting(own, [plainTool("one")], false);
  expect(ranCall(await called(tool, "one")).output).toBe(ALL);
});
