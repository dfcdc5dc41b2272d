import { join } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { createMcpTool } from "../../../src/tools/mcp/mcp-tool.ts";
import { checkStreamLaws } from "../../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { type ChatRequest, calls, saysText, serveScript } from "../behind-script.ts";
import { mcpInput, mcpOptions, operatorServer } from "./opened-tool.ts";

const PROGRAM = join(import.meta.dirname, "changing-program.ts");
const LAB = mcpInput({ server_label: "lab" });

function changingTool(environment: Readonly<Record<string, string>>, log: Logger = silentLogger): HostedTool {
  const reach = { type: "program", command: process.execPath, args: [PROGRAM], folder: "/", environment } as const;
  const tool = createMcpTool(
    mcpOptions({ servers: [operatorServer(reach, { label: "lab" })], listTimeoutMs: 20_000, log }),
  );
  onTestFinished(async () => await tool.close?.());
  return tool;
}

function offeredNames({ tools = [] }: ChatRequest): readonly string[] {
  return tools.map((tool) => tool.function.name.replace("lab__", ""));
}

test.each([
  ["2026-07-28", {}],
  ["2025", { OLDER: "1" }],
])(
  "a list of a program of protocol %s that a call changes is read anew before the next turn",
  async (_, environment) => {
    verifies("tools.mcp.changed-list-is-read");
    const turns = [calls(["unlock", "{}"]), calls(["open", "{}"]), saysText("Open.")];
    const { create, asked } = await serveScript(turns, {}, [changingTool(environment)]);
    const stream = await readStream(await create({ tools: [LAB], stream: true }));
    checkStreamLaws(stream);
    expect(stream.final.output).toMatchObject([
      { type: "mcp_list_tools", tools: [{ name: "unlock" }, { name: "later" }] },
      { type: "mcp_call", name: "unlock", output: "unlocked" },
      { type: "mcp_list_tools", tools: [{ name: "later" }, { name: "open" }] },
      { type: "mcp_call", name: "open", output: "opened" },
      { type: "message" },
    ]);
    expect(asked.map(offeredNames)).toEqual([
      ["unlock", "later"],
      ["later", "open"],
      ["later", "open"],
    ]);

    const next = await readResponse(await create({ tools: [LAB], previous_response_id: stream.final.id }));
    expect(next.output.map(({ type }) => type)).toEqual(["message"]); // The newest list counts.
    expect(offeredNames(asked.at(-1) ?? { messages: [] })).toEqual(["later", "open"]);
  },
);

test("a list that changes between two responses is read anew by the second, over the kept connection", async () => {
  verifies("tools.mcp.changed-list-is-read");
  const said: string[] = [];
  const log: Logger = {
    ...silentLogger,
    debug: (fields, message) => void said.push(JSON.stringify([fields, message])),
  };
  const turns = [calls(["later", "{}"]), saysText("Soon."), calls(["late", "{}"]), saysText("At last.")];
  const { create } = await serveScript(turns, {}, [changingTool({}, log)]);
  const first = await readResponse(await create({ tools: [LAB] }));
  await vi.waitFor(() => expect(said.join()).toContain("has changed"), { timeout: 20_000, interval: 20 });
  const second = await readResponse(await create({ tools: [LAB], previous_response_id: first.id }));
  expect(second.output).toMatchObject([
    { type: "mcp_list_tools", tools: [{ name: "unlock" }, { name: "later" }, { name: "late" }] },
    { type: "mcp_call", name: "late", output: "at last" },
    { type: "message" },
  ]);
});
