import type { Parties } from "../pact-files.fixture.ts";

/** The replies to requests that may not open a stream. */
export const CLOUD_STT: Parties = { consumer: "cloud-speech-client", provider: "cloud-stt" };
/** The messages of the stream. */
export const CLOUD_STT_STREAM: Parties = { consumer: "cloud-speech-client", provider: "cloud-stt-stream" };

export const PATH = "/stt/v1/stream";
export const EXAMPLE_KEY = "sk-example";
