import { makeKey } from "../../tests/keys/keys-command.ts";
import { startTestServer } from "../../tests/kit/test-server.ts";
import { pactFile } from "../pact-files.fixture.ts";
import { describeProviders, type OwnService } from "../providers.fixture.ts";
import { describePact } from "../verification.fixture.ts";
import { STAGED_SERVER } from "./http-server.fixture.ts";
import { HTTP_PROVIDER } from "./interaction.fixture.ts";
import { publicStates, stagedStates } from "./provider-states.ts";
import { startVoice } from "./voice.fixture.ts";

describeProviders(startOurs, (provider) => {
  describePact(provider, { file: pactFile(HTTP_PROVIDER), publicStates, stagedStates });
});

async function startOurs(): Promise<OwnService> {
  const voice = await startVoice();
  const env = { ...STAGED_SERVER.env, ...voice.env };
  const server = await startTestServer({ ...STAGED_SERVER, env });
  const operatorKey = await makeKey(server.dataDir, "--operator");
  const close = async (): Promise<void> => {
    await server.close();
    voice.close();
  };
  return { ...server, model: "antiphon-built-in", operatorKey, close };
}
