import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readResponseStreamEvent } from "@antiphon/contracts/responses-api/readers.js";
import type { McpCall, McpListTools, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { startTestServer } from "../../kit/test-server.ts";
import { readStream } from "../../responses/read-stream.ts";
import { startScripted, toolList } from "./mcp-servers.ts";

/** Folder of recorded streams of the reference. */
const RECORDINGS = process.env["REFERENCE_RECORDINGS"];

type DoneItem = Extract<ResponseStreamEvent, { type: "response.output_item.done" }>["item"];

function recorded(name: string): readonly ResponseStreamEvent[] {
  const lines = readFileSync(join(RECORDINGS ?? "", `${name}.chunks.txt`), "utf8").split("\n");
  return lines.flatMap((line) => {
    if (line.trim() === "") return [];
    return [eventOf(line)];
  });
}

function eventOf(line: string): ResponseStreamEvent {
  const event: unknown = JSON.parse(line);
  if (!readResponseStreamEvent(event)) throw new Error(`no event: ${line.slice(0, 200)}`);
  return event;
}

function doneItems(events: readonly ResponseStreamEvent[]): readonly DoneItem[] {
  return events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
}

/** The events in order, with their members and those of their items, without what only a reasoning model has. */
function shapeOf(events: readonly ResponseStreamEvent[]): readonly string[] {
  return events
    .filter((event) => !("item" in event && event.item.type === "reasoning"))
    .filter((event) => !("item_id" in event) || !event.item_id.startsWith("rs_"))
    .map((event) => {
      const item = "item" in event ? ` ${event.item.type} ${Object.keys(event.item).toSorted().join(",")}` : "";
      return `${event.type} ${Object.keys(event).toSorted().join(",")}${item}`;
    });
}

describe.skipIf(RECORDINGS === undefined)("the reference's stream with the same tools and results", () => {
  test.each(["openai-mcp-tool.1", "openai-mcp-tool-approval.1"])("%s has the same events and members", async (name) => {
    const events = recorded(name);
    const items = doneItems(events);
    const list = items.find((item): item is McpListTools => item.type === "mcp_list_tools");
    const calls = items.filter((item): item is McpCall => item.type === "mcp_call");
    const asked = items.find((item) => item.type === "mcp_approval_request");
    const outputs = calls.map(({ output }) => output ?? "");
    const mcp = await startScripted({
      "tools/list": () => {
        const tools = (list?.tools ?? []).map(({ name: tool, description, input_schema: inputSchema }) => {
          return { name: tool, description, inputSchema };
        });
        return toolList(tools);
      },
      "tools/call": () => ({ result: { content: [{ type: "text", text: outputs.shift() ?? "" }] } }),
    });
    const label = list?.server_label ?? "";
    const made = asked?.type === "mcp_approval_request" ? [asked] : calls;
    const chunks = events.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []));
    const scenarios = [
      ...made.map((call, index) => ({
        when: { tool_outputs: index },
        events: [{ call: { name: call.name, namespace: label, arguments: call.arguments, chunks: 1 } }],
      })),
      { when: { tool_outputs: made.length }, events: [{ text: { chunks } }] },
    ];
    const server = await startTestServer({ scenario: stringify({ scenarios }), env: { EGRESS_ALLOW: "127.0.0.1" } });
    const tool = { type: "mcp", server_label: label, server_url: mcp.url };
    const reply = await server.post("/v1/responses", {
      model: "antiphon-built-in",
      input: "Go on.",
      stream: true,
      tools: [{ ...tool, require_approval: asked === undefined ? "never" : "always" }],
    });
    const own = (await readStream(reply)).events;
    expect(shapeOf(own)).toEqual(shapeOf(events));
    expect(doneItems(own).find(({ type }) => type === "mcp_list_tools")).toMatchObject({ tools: list?.tools });
  });
});
