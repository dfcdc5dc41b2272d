import type { Parties } from "../pact-files.fixture.ts";

export const LOCAL_STT: Parties = { consumer: "speech-client", provider: "local-stt" };
/** The messages of stt-jsonl-v1, over both transports. */
export const LOCAL_STT_STREAM: Parties = { consumer: "speech-client", provider: "local-stt-stream" };
