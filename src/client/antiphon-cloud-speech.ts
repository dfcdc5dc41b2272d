import { CloudSttClient } from "../../generated/local-stt/cloud-client.ts";
import { createOpenChannel } from "./speech/cloud-channel.ts";
import { type CloudSpeechOptions, cloudServiceOf } from "./speech/cloud-service.ts";

/**
 * The premium cloud stream. `stream` resolves once it is open: a rate limit is waited for, and failures that may pass
 * are tried again. Messages are read no faster than they are sent, heartbeats go by themselves, and a source that ends
 * without a last piece is ended. Not for browsers, whose sockets send no headers.
 */
export class AntiphonCloudSpeech extends CloudSttClient {
  /** Throws `AntiphonError` for options that can never work. */
  constructor(options: CloudSpeechOptions) {
    super(createOpenChannel(cloudServiceOf(options)));
  }
}
