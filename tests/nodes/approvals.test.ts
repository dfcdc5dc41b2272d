import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { describe, expect, test } from "vitest";
import { payingWorld } from "../crash/paying-world.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { startNodes, TEST_TIMEOUT_MS, whyNoNodes } from "./nodes.ts";

const ROUNDS = 10;

/** How a create came out: `completed`, or the name of the fault that lost the approval. */
async function endOf(server: ChildServer, body: object): Promise<string> {
  const reply = await server.post("/v1/responses", body);
  const { status, error }: Partial<Pick<ResponseBody, "status" | "error">> = JSON.parse(await reply.text());
  return [reply.status, status, error?.code].filter((part) => part !== undefined).join(" ");
}

describe.skipIf(whyNoNodes() !== undefined)("two nodes", () => {
  test(
    "that get one approval at once let its call run once",
    async () => {
      verifies("tools.mcp.approval-race-fails");
      const world = await payingWorld();
      const nodes = await startNodes(2, world.modelUrl, { EGRESS_ALLOW: "127.0.0.1" });
      const tool = { type: "mcp", server_label: "bank", server_url: world.mcpUrl };
      const tools = [{ ...tool, require_approval: { never: { tool_names: ["look"] } } }];
      for (let number = 1; number <= ROUNDS; number++) {
        const asked = { model: "m", input: `number ${number}`, tools };
        const asking = await readResponse(await nodes[0].post("/v1/responses", asked));
        const request = asking.output.find(({ type }) => type === "mcp_approval_request");
        const approval = { type: "mcp_approval_response", approval_request_id: request?.id, approve: true };
        const approved = { ...asked, input: [approval], previous_response_id: asking.id };
        const ends = await Promise.all(nodes.map((node) => endOf(node, approved)));
        const lost = ends.filter((end) => end !== "200 completed");
        expect(lost).toEqual([expect.stringMatching(/^(400 approval_spent|200 failed invalid_prompt)$/)]);
        expect(world.done.filter((one) => one === `pay ${number}`)).toHaveLength(1);
      }
    },
    TEST_TIMEOUT_MS,
  );
});
