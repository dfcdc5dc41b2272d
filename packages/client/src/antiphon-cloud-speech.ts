import { CloudSttClient } from "@antiphon/contracts/local-stt/cloud-client.ts";
import { createOpenChannel } from "./speech/cloud-channel.ts";
import { type CloudSpeechOptions, cloudServiceOf } from "./speech/cloud-service.ts";

/**
 * A client of the cloud speech-to-text stream. `stream` resolves once the stream is open; it waits for rate limits and
 * retries transient failures. Messages are read no faster than they are sent. The client sends heartbeats, and a last
 * audio message if the source ends without one. It does not work in browsers, because their WebSockets cannot send
 * headers.
 */
export class AntiphonCloudSpeech extends CloudSttClient {
  /** Throws an `AntiphonError` if an option is invalid. */
  constructor(options: CloudSpeechOptions) {
    super(createOpenChannel(cloudServiceOf(options)));
  }
}
