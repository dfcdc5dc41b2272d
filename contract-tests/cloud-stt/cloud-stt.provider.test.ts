import { once } from "node:events";
import { Verifier, type VerifierOptions } from "@pact-foundation/pact";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { API_KEY } from "../../tests/cloud-stt/cloud-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { pactFile, pickInteraction, readPactMessages } from "../pact-files.fixture.ts";
import { verifyPact } from "../pact-outcome.fixture.ts";
import type { StagedServer } from "../staged-server.fixture.ts";
import { openCloudProvider } from "./cloud-provider.fixture.ts";
import { CLOUD_STATES, cloudSettingOf } from "./cloud-states.fixture.ts";
import { CLOUD_STT, PATH } from "./parties.fixture.ts";

const FILE = pactFile(CLOUD_STT.provider);

describe("at our server", () => {
  describe("the pact of cloud-speech-client", () => {
    let provider: StagedServer;
    beforeAll(async () => {
      provider = await openCloudProvider();
    });
    afterAll(() => provider.close());

    const interactions = readPactMessages(FILE).map(
      ({ description, state, key }) => [description, state, key] as const,
    );
    test.for(interactions)("%s, given %s", async ([, , key]) => {
      verifies("contract.parity.same-checks-both-providers", "cloud.stream.plain-request-tells-the-refusal");
      const asked = pickInteraction(FILE, key);
      await verifyPact(asked, (file) => new Verifier(verification(provider, file)).verifyProvider());
    });

    test.for(interactions)("an upgrade alike: %s, given %s", async ([, state]) => {
      verifies("cloud.stream.plain-request-tells-the-refusal", "cloud.stream.streams-are-bounded");
      const [asked, upgraded] = [await statusOf(provider, state, askPlainly), await statusOf(provider, state, upgrade)];
      expect(upgraded).toBe(asked === 426 ? 101 : asked);
    });
  });
});

function verification(provider: StagedServer, file: string): VerifierOptions {
  const bringAbout = async (state: string): Promise<{ api_key: string }> => {
    await provider.enter(state);
    return { api_key: keyIn(state) };
  };
  return {
    provider: CLOUD_STT.provider,
    providerBaseUrl: provider.url,
    pactUrls: [file],
    stateHandlers: Object.fromEntries(Object.keys(CLOUD_STATES).map((name) => [name, () => bringAbout(name)])),
    logLevel: "error",
  };
}

function keyIn(state: string): string {
  return cloudSettingOf(state).apiKey ?? API_KEY;
}

type Ask = (url: string, headers: Readonly<Record<string, string>>) => Promise<number>;

async function statusOf(provider: StagedServer, state: string, ask: Ask): Promise<number> {
  await provider.enter(state);
  return ask(provider.url + PATH, { "x-api-key": keyIn(state) });
}

async function askPlainly(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const reply = await fetch(url, { headers });
  await reply.body?.cancel();
  return reply.status;
}

async function upgrade(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const socket = new WebSocket(url.replace("http", "ws"), { headers });
  socket.on("error", () => {});
  const refused = once(socket, "unexpected-response").then(([, reply]) => Number(reply.statusCode));
  const opened = new Promise<number>((resolve) => socket.once("open", () => resolve(101)));
  const status = await Promise.race([refused, opened]);
  socket.terminate();
  return status;
}
