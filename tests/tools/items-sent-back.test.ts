import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import { SAMPLE_ITEMS } from "@antiphon/domain/models/hosted-items.fixture.ts";
import { describe, expect, test } from "vitest";
import { cutForm } from "../../src/runs/index.ts";
import { readResponse } from "../responses/read-stream.ts";
import { MCP, saysText, serveScript } from "./behind-script.ts";

const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const RAN = [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }];

/** What the client adds for an item that asks it for something. */
function answerTo(item: OutputItem): readonly object[] {
  if (item.type === "mcp_approval_request")
    return [{ type: "mcp_approval_response", approval_request_id: item.id, approve: false }];
  if (item.type === "local_shell_call") return [{ type: "local_shell_call_output", id: item.id, output: "a" }];
  const call = "call_id" in item ? { type: `${item.type}_output`, call_id: item.call_id } : {};
  if (item.type === "computer_call") return [{ ...call, output: { type: "computer_screenshot", image_url: PICTURE } }];
  if (item.type === "shell_call") return [{ ...call, output: RAN }];
  return item.type === "apply_patch_call" ? [{ ...call, status: "completed" }] : [];
}

/** What an item needs before it. */
function before(item: OutputItem): readonly object[] {
  if (item.type === "tool_search_output") return [SAMPLE_ITEMS.tool_search_call("tsc_before").last];
  if (item.type === "program_output") return [SAMPLE_ITEMS.program("cm_before").last];
  if (item.type !== "shell_call_output") return [];
  return [{ ...SAMPLE_ITEMS.shell_call("sh_before").last, call_id: item.call_id }];
}

const KINDS = Object.values(SAMPLE_ITEMS)
  .map((sample) => sample("it_0123456789abcdef"))
  .map(({ first, last }) => ({
    kind: last.type,
    items: [last, cutForm(first)],
  }));

describe.each(KINDS)("an item of $kind can be sent back", ({ items }) => {
  test.each([true, false])("with store: %s, as it ended and as it was cut", async (store) => {
    const { create, asked } = await serveScript([saysText("Done.")]);
    const tools = [{ ...MCP, server_label: "sea" }];
    for (const item of items) {
      const input = [{ role: "user", content: "Hi" }, ...before(item), item, ...answerTo(item)];
      const reply = await create({ store, tools, input: [...input, { role: "user", content: "Go on" }] });
      expect([reply.status, reply.status === 200 ? "" : await reply.text()]).toEqual([200, ""]);
      const response = await readResponse(reply);
      expect(response.status).toBe("completed");
      if (!store) continue;
      const previous = { store, tools, previous_response_id: response.id, input: "More" };
      expect((await readResponse(await create(previous))).status).toBe("completed");
    }
    expect(asked.length).toBeGreaterThanOrEqual(items.length);
  });
});
