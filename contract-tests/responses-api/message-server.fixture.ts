import OpenAI, { toFile } from "openai";
import { startTestServer, type TestServer } from "../../tests/kit/test-server.ts";
import { CODE_ENGINE } from "../../tests/tools/code-engines.ts";
import type { OwnService } from "../providers.fixture.ts";
import { SCENARIO } from "./message-scenes.fixture.ts";
import { startToolServers } from "./tool-servers.fixture.ts";
import { startVoice } from "./voice.fixture.ts";

/** Short enough for a keep-alive event in each pause of a scenario. */
const SSE_KEEP_ALIVE_MS = "20";
const POLL_MS = 20;

/** Starts our server with a model that plays the scenarios, a speech synthesis server, and servers for its tools. */
export async function startMessageServer(): Promise<OwnService> {
  const voice = await startVoice();
  const tools = await startToolServers();
  const env = { ...voice.env, ...tools.env, ...CODE_ENGINE, SSE_KEEP_ALIVE_MS };
  const server = await startTestServer({ scenario: SCENARIO, env });
  return {
    url: server.url,
    apiKey: server.apiKey,
    model: "antiphon-built-in",
    toolServers: tools.url,
    vectorStore: await makeStore(server),
    close: async () => {
      await server.close();
      voice.close();
      tools.close();
    },
  };
}

/** Makes a vector store that holds a file, and returns its id. */
async function makeStore({ url, apiKey }: Pick<TestServer, "url" | "apiKey">): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const { id } = await client.vectorStores.create({ name: "tides" });
  const file = await toFile(Buffer.from("It is sunny in Rome. The tide turns twice a day."), "rome.txt");
  await client.vectorStores.files.uploadAndPoll(id, file, { pollIntervalMs: POLL_MS });
  return id;
}
