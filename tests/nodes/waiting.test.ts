import { describe, expect, test } from "vitest";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { begin, read, serveToldModel, startNodes, TEST_TIMEOUT_MS, whyNoNodes } from "./nodes.ts";

describe.skipIf(whyNoNodes() !== undefined)(
  "background responses that wait for a node",
  {
    timeout: TEST_TIMEOUT_MS,
  },
  () => {
    test("are cancelled at once although no node has room, and are followed once one has taken them", async () => {
      verifies("operations.nodes.runs-anywhere");
      const model = await serveToldModel();
      const [first, second] = await startNodes(2, model.url, { BACKGROUND_RUNS_MAX: "1" });
      const running = [await begin(first), await begin(first)];
      await expect.poll(model.calls, { timeout: 10_000 }).toBe(2);
      const [cancelled, waiting] = [await begin(first), await begin(second)];
      const readers = await Promise.all([read(first, waiting), read(second, waiting)]);
      const reply = await readResponse(await second.post(`/v1/responses/${cancelled}/cancel`, {}));
      expect(reply.status).toBe("cancelled");
      expect(model.calls()).toBe(2); // Nobody had room meanwhile.
      model.finish();
      await Promise.all(readers.map(({ over }) => over));
      const [one, other] = readers.map(({ lines }) => lines);
      expect(one?.at(-1)).toContain('"type":"response.completed"');
      expect(other).toEqual(one);
      for (const id of running)
        expect((await readResponse(await second.fetch(`/v1/responses/${id}`))).status).toMatch(/completed|in_progress/);
    });
  },
);
