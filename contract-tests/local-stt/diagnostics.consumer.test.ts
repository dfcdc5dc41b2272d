import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import type { Health, Version } from "../../generated/local-stt/types.ts";
import { AntiphonSpeech } from "../../src/client/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { PACTS_DIR } from "../pact-files.fixture.ts";
import { LOCAL_STT } from "./parties.fixture.ts";

const { boolean, integer, regex, string } = MatchersV3;

/** The specification names the subjects only, so both are compared with ours alone. */
describe("a client of the speech server", () => {
  test("learns whether speech and formatting are there", async () => {
    verifies("stt.health.tells-model-and-formatter");
    const shape = {
      ok: boolean(true),
      speech: { state: regex("^(building|downloading|failed|loading|ready)$", "ready"), restarts: integer(0) },
      formatting: { enabled: boolean(false) },
    };
    await check("/healthz", shape, async (client) => {
      const health: Health = await client.getHealth();
      expect(health).toMatchObject({ ok: true, speech: { state: "ready" }, formatting: { enabled: false } });
    });
  });

  test("learns what was built and what is switched on", async () => {
    verifies("stt.version.build-metadata");
    const shape = {
      name: "antiphon",
      version: string("0.1.0"),
      protocol: "stt-jsonl-v1",
      engine: { name: string("none") },
      model_paths: MatchersV3.like({}),
      formatting_tier: { status: string("no_key") },
      ai: { formatting: boolean(false), demo_chat: boolean(false) },
    };
    await check("/version", shape, async (client) => {
      const version: Version = await client.getVersion();
      expect(version).toMatchObject({ name: "antiphon", protocol: "stt-jsonl-v1", ai: { formatting: false } });
    });
  });
});

async function check(path: string, shape: object, use: (client: AntiphonSpeech) => Promise<void>): Promise<void> {
  await new PactV4({ ...LOCAL_STT, dir: PACTS_DIR, logLevel: "error" })
    .addInteraction()
    .uponReceiving(`a request for ${path}`)
    .withRequest("GET", path)
    .willRespondWith(200, (builder) => builder.jsonBody(shape))
    .executeTest(({ url }) => use(new AntiphonSpeech({ baseUrl: url, retriesMax: 0 })));
}
