import { startTestServer } from "../../tests/test-server.ts";
import type { OwnService } from "../providers.fixture.ts";
import { SCENARIO } from "./message-scenes.fixture.ts";
import { startVoice } from "./voice.fixture.ts";

/** Short enough for a keep-alive event in each pause of a scenario. */
const SSE_KEEP_ALIVE_MS = "20";

/** Starts our server with a model that plays the scenarios, and with a speech synthesis server. */
export async function startMessageServer(): Promise<OwnService> {
  const voice = await startVoice();
  const server = await startTestServer({ scenario: SCENARIO, env: { ...voice.env, SSE_KEEP_ALIVE_MS } });
  return {
    url: server.url,
    apiKey: server.apiKey,
    model: "antiphon-built-in",
    close: async () => {
      await server.close();
      voice.close();
    },
  };
}
