import type { Logger } from "@antiphon/base/logger.ts";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import type { McpProgram, OperatorServer } from "../../../src/tools/mcp/mcp-server.ts";
import { verifies } from "../../verifies.ts";
import { called, mcpInput, opened, ranCall } from "./opened-tool.ts";

/** Answers until a tool is called. Then it complains, with what it was told in confidence, and dies. */
const DIES_IN_CALL = `
const results = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } },
  "tools/list": { tools: [{ name: "one", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }] },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "tools/call") throw new Error("no room for " + process.env.API_KEY + " at http://10.0.0.1/x");
  if (results[method]) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
});`;

function operatorsProgram(program: Partial<McpProgram>): OperatorServer {
  const reach: McpProgram = {
    type: "program",
    command: process.execPath,
    args: [],
    folder: "/",
    environment: {},
    ...program,
  };
  const limits = { allowedTools: null, requireApproval: null, owners: null };
  return {
    label: "shop",
    reach,
    description: null,
    connectorIds: [],
    forwardsAuthorization: false,
    allowsLessApproval: false,
    ...limits,
  };
}

/** Options of a server with this program, and the fields of its warnings. */
function withProgram(program: Partial<McpProgram>) {
  const warnings: object[] = [];
  const log: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) };
  return { options: { servers: [operatorsProgram(program)], log }, warnings };
}

test.each([
  [
    "dies before it lists its tools",
    { args: ["-e", "console.error('hello'); throw new RangeError('out of paper')"] },
    "RangeError: out of paper",
  ],
  ["reads nothing and complains", { command: "/bin/sh", args: ["-c", "exec <&-; echo no paper >&2"] }, "no paper"],
  ["is missing", { command: "/does/not/exist" }, "/does/not/exist: "],
])("what a program that %s has said is in the error and in the log", async (_how, program, said) => {
  verifies("tools.mcp.dying-program-says-why");
  const { options, warnings } = withProgram(program);
  const failure: unknown = await opened(mcpInput(), { options }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 424, message: expect.stringContaining(said) });
  expect(warnings).toEqual([{ server: "shop", stderr: expect.stringContaining(said) }]);
});

test("what a program says that dies in a call is shortened, without secrets and addresses", async () => {
  verifies("tools.mcp.dying-program-says-why");
  const environment = { API_KEY: "key-of-the-program" };
  const { options, warnings } = withProgram({ args: ["-e", DIES_IN_CALL], environment });
  const { item } = ranCall(await called(await opened(mcpInput(), { options }), "one"));
  const message = "The program of the MCP server ended and said: Error: no room for [redacted] at [address]";
  expect(item).toMatchObject({ status: "failed", error: { type: "http_error", code: 424, message } });
  expect(warnings).toEqual([{ server: "shop", stderr: expect.stringContaining("no room for [redacted]") }]);
});

test("a program that ends with its response is not told of", async () => {
  const { options, warnings } = withProgram({ args: ["-e", DIES_IN_CALL] });
  const tool = await opened(mcpInput(), { options });
  await tool.close();
  expect(warnings).toEqual([]);
});
