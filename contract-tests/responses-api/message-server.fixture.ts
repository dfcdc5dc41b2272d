import { startTestServer } from "../../tests/test-server.ts";
import type { OwnService } from "../providers.fixture.ts";
import { SCENARIO } from "./message-scenes.fixture.ts";
import { startVoice } from "./voice.fixture.ts";

/** Often enough for signs of life to come in each pause of a scenario. */
const SSE_KEEP_ALIVE_MS = "20";

/** Our server with a model that plays the scenarios, and with a voice. */
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
