import { describe, expect, test } from "vitest";
import { begin, change, ended, heldWorld, list, paused, steer, steers } from "../steering/held-world.ts";
import { verifies } from "../verifies.ts";
import { startNodes, TEST_TIMEOUT_MS, whyNoNodes } from "./nodes.ts";

describe.skipIf(whyNoNodes() !== undefined)("two nodes", { timeout: TEST_TIMEOUT_MS }, () => {
  test("steer the responses of each other, and make one successor", async () => {
    verifies("responses.steer.any-node", "responses.steer.successor");
    const world = await heldWorld();
    const nodes = await startNodes(2, world.modelUrl, { EGRESS_ALLOW: "127.0.0.1" });
    const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => begin(nodes[n % 2] ?? nodes[0], world.ask(1))));
    await expect.poll(world.begun, { timeout: 10_000 }).toBe(ids.length);
    await Promise.all(ids.map((id, n) => steer(nodes[(n + 1) % 2] ?? nodes[0], id, `number ${n}`)));
    world.release();
    for (const id of ids) {
      await ended(nodes[0], id);
      const [applied] = await steers(nodes[1], id, "applied");
      const successor = await ended(nodes[0], applied?.successor_id ?? "");
      expect([successor.status, successor.previous_response_id]).toEqual(["completed", id]);
    }
    const said = world.turns.flatMap((sent) => sent.slice(-1)).filter(([, text]) => String(text).startsWith("number"));
    expect(said).toHaveLength(ids.length);
    expect(new Set(said.map(([, text]) => text))).toEqual(new Set(ids.map((_, n) => `number ${n}`)));
  });

  test("pause and resume the responses of each other, also those of a node that is gone", async () => {
    verifies("responses.steer.any-node", "responses.pause.survives-restarts");
    const world = await heldWorld();
    const nodes = await startNodes(2, world.modelUrl, { EGRESS_ALLOW: "127.0.0.1" });
    const [first, second] = nodes;
    const id = await begin(first, world.ask(2));
    await expect.poll(world.begun).toBe(1);
    await change(second, id, "pause");
    world.release();
    await paused(second, id);
    await steer(second, id, "Hello");
    await first.kill();
    expect((await list(second, id))[0]?.status).toBe("accepted");
    await change(second, id, "resume");
    expect((await ended(second, id)).incomplete_details).toEqual({ reason: "steered" });
    const [applied] = await steers(second, id, "applied");
    expect((await ended(second, applied?.successor_id ?? "")).status).toBe("completed");
  });
});
