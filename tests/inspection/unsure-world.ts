import { payingWorld } from "../crash/paying-world.ts";
import { startTestServer } from "../kit/test-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { startTcpProxy } from "../services/proxy-of-test.ts";

/** A server whose model looks and pays, and the tool of its bank by way of a proxy. */
export async function startUnsureWorld() {
  const world = await payingWorld();
  const proxy = await startTcpProxy(world.mcpUrl);
  const server = await startTestServer({
    env: { MODEL_BASE_URL: world.modelUrl, EGRESS_ALLOW: "127.0.0.1", NODE_NAME: "left" },
  });
  const tool = {
    type: "mcp",
    server_label: "bank",
    server_url: proxy.through(world.mcpUrl),
    require_approval: "never",
  };
  const ask = (body: object) => server.post("/v1/responses", { model: "m", tools: [tool], ...body });
  /** A payment whose connection breaks once it has acted. */
  const payUnknown = async (number: number) => {
    world.aim({ place: "effect to finish", tool: "pay", kill: () => proxy.cut() });
    const response = await readResponse(await ask({ input: `number ${number}` }));
    world.aim(null);
    await proxy.heal();
    return response;
  };
  return { world, server, ask, payUnknown };
}
