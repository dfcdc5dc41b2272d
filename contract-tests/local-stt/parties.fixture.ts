import type { Parties } from "../pact-files.fixture.ts";

export const LOCAL_STT: Parties = { consumer: "speech-client", provider: "local-stt" };
