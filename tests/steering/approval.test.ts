import { expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";
import { begin, ended, heldWorld } from "./held-world.ts";

test("an approval waits in no server, and works after kill -9 and a restart", async () => {
  verifies("responses.approvals.wait-for-days");
  const world = await heldWorld();
  world.release();
  const folder = temporaryFolder();
  const env = { ...world.env, DATA_DIR: folder };
  const first = await startChildServer({ env });
  const asked = world.ask(1, { tools: world.approvedTools });
  const id = await begin(first, asked);
  const response = await ended(first, id);
  const request = response.output.find(({ type }) => type === "mcp_approval_request");
  expect([response.status, world.begun()]).toEqual(["completed", 0]);
  expect(await query(folder, "select worker, task from responses")).toEqual([{ worker: null, task: null }]);
  await first.kill();
  const second = await startChildServer({ env });
  const input = [{ type: "mcp_approval_response", approval_request_id: request?.id, approve: true }];
  const next = await begin(second, { ...asked, input, previous_response_id: id });
  expect((await ended(second, next)).status).toBe("completed");
  expect(world.begun()).toBe(1);
});
