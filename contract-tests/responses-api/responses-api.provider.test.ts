import { startTestServer } from "../../tests/test-server.ts";
import { describeProviders, type OwnService } from "../providers.fixture.ts";
import { describePacts } from "../verification.fixture.ts";
import { STAGED_SERVER } from "./http-server.fixture.ts";
import { OFFICIAL_SDK, OWN_CLIENT } from "./interaction.fixture.ts";
import { publicStates, stagedStates } from "./provider-states.ts";
import { startVoice } from "./voice.fixture.ts";

describeProviders(startOurs, (provider) => {
  describePacts(provider, { pacts: [OFFICIAL_SDK, OWN_CLIENT], publicStates, stagedStates });
});

async function startOurs(): Promise<OwnService> {
  const voice = await startVoice();
  const env = { ...STAGED_SERVER.env, ...voice.env };
  const server = await startTestServer({ ...STAGED_SERVER, env });
  const close = async (): Promise<void> => {
    await server.close();
    voice.close();
  };
  return { ...server, model: "antiphon-built-in", close };
}
