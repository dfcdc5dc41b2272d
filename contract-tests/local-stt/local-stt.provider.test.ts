import { Verifier } from "@pact-foundation/pact";
import { test } from "vitest";
import { startLocalSttServer } from "../../tests/local-stt-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { pactFile } from "../pact-files.fixture.ts";
import { LOCAL_STT } from "./parties.fixture.ts";

test("our speech server keeps the pact of its client", async () => {
  verifies("stt.health.tells-model-and-formatter", "stt.version.build-metadata");
  const server = await startLocalSttServer();
  try {
    await new Verifier({
      provider: LOCAL_STT.provider,
      providerBaseUrl: server.url,
      pactUrls: [pactFile(LOCAL_STT)],
      logLevel: "error",
    }).verifyProvider();
  } finally {
    await server.close();
  }
});
