import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { type PayingWorld, payingWorld } from "../crash/paying-world.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { TcpProxy } from "../services/tcp-proxy.ts";
import { verifies } from "../verifies.ts";

interface LossyWorld {
  readonly world: PayingWorld;
  readonly server: TestServer;
  /** Breaks the connections between client and server, and lets new ones pass. */
  readonly breakOff: () => Promise<void>;
  /** An official client that calls the server through the proxy. */
  readonly client: OpenAI;
}

async function lossyWorld(): Promise<LossyWorld> {
  const world = await payingWorld();
  const server = await startTestServer({ env: { MODEL_BASE_URL: world.modelUrl, EGRESS_ALLOW: "127.0.0.1" } });
  const proxy = new TcpProxy(server.url);
  await proxy.listen();
  onTestFinished(() => proxy.close());
  const breakOff = async (): Promise<void> => {
    await proxy.cut();
    await proxy.heal();
  };
  const client = new OpenAI({ baseURL: `${proxy.through(server.url)}/v1`, apiKey: server.apiKey, maxRetries: 2 });
  return { world, server, breakOff, client };
}

function payment(world: PayingWorld, number: number) {
  const tool = { type: "mcp", server_label: "bank", server_url: world.mcpUrl, require_approval: "never" } as const;
  return { model: "m", input: `number ${number}`, tools: [tool] };
}

async function countResponses(server: TestServer): Promise<number> {
  return Object(await (await server.fetch("/v1/responses?limit=100")).json()).data.length;
}

test("a retry of the official client finds the run whose reply was lost after a tool has acted", async () => {
  verifies("responses.lost-replies.found-by-retry");
  const { world, server, breakOff, client } = await lossyWorld();
  world.aim({ tool: "pay", place: "effect to finish", kill: breakOff });
  const response = await client.responses.create(payment(world, 1));
  expect(response).toMatchObject({ status: "completed", output_text: "All done." });
  expect(world.done).toEqual(["look 1", "pay 1"]);
  expect(await countResponses(server)).toBe(1);
  expect(response.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "mcp_call", "message"]);
});

test("a run that is not stored is stopped when its reply is lost, and a retry makes another one", async () => {
  verifies("responses.lost-replies.found-by-retry");
  const { world, server, breakOff, client } = await lossyWorld();
  world.aim({ tool: "look", place: "begin to effect", kill: breakOff });
  const response = await client.responses.create({ ...payment(world, 1), store: false });
  expect(response.status).toBe("completed");
  expect(world.done.filter((one) => one === "pay 1")).toHaveLength(1);
  expect(await countResponses(server)).toBe(0);
});

test("the same request twice on purpose makes two responses, and so does a retry of one that has arrived", async () => {
  verifies("responses.lost-replies.found-by-retry");
  const { world, server, client } = await lossyWorld();
  const first = await client.responses.create(payment(world, 1));
  const second = await client.responses.create(payment(world, 1));
  expect(first.id).not.toBe(second.id);
  expect(world.done.filter((one) => one === "pay 1")).toHaveLength(2);
  // A retry of a request whose reply has arrived.
  const again = await server.fetch("/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json", "x-stainless-retry-count": "1" },
    body: JSON.stringify(payment(world, 1)),
  });
  expect([first.id, second.id]).not.toContain(Object(await again.json()).id);
});
