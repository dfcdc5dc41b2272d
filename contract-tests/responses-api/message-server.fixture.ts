import { startTestServer } from "../../tests/test-server.ts";
import type { OwnService } from "../providers.fixture.ts";
import { SCENARIO } from "./message-scenes.fixture.ts";
import { startToolServers } from "./tool-servers.fixture.ts";
import { startVoice } from "./voice.fixture.ts";

/** Short enough for a keep-alive event in each pause of a scenario. */
const SSE_KEEP_ALIVE_MS = "20";

/** Starts our server with a model that plays the scenarios, a speech synthesis server, and servers for its tools. */
export async function startMessageServer(): Promise<OwnService> {
  const voice = await startVoice();
  const tools = await startToolServers();
  const env = { ...voice.env, ...tools.env, SSE_KEEP_ALIVE_MS };
  const server = await startTestServer({ scenario: SCENARIO, env });
  return {
    url: server.url,
    apiKey: server.apiKey,
    model: "antiphon-built-in",
    toolServers: tools.url,
    close: async () => {
      await server.close();
      voice.close();
      tools.close();
    },
  };
}
