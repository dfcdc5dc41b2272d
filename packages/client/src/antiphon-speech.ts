import { LocalSttClient } from "@antiphon/contracts/local-stt/client.ts";
import { type ConnectionOptions, connectionOf } from "./http/connection.ts";
import { createSend } from "./http/send.ts";
import { isBrowser } from "./platform.ts";
import type { OpenSocket } from "./speech/socket-inbox.ts";
import { sendStreamsBySocket } from "./speech/socket-stream.ts";

const BASE_URL = "http://127.0.0.1:8237";

export interface SpeechOptions extends Omit<ConnectionOptions, "apiKey"> {
  /**
   * The transport of `streamTranscription`; the messages are the same. The default is `websocket` in browsers, whose
   * fetch cannot send and receive at the same time, and `ndjson` elsewhere.
   */
  readonly streamTransport?: "ndjson" | "websocket";
  /** Opens WebSockets in place of the global `WebSocket`, which Node has since version 22. */
  readonly openSocket?: OpenSocket;
}

/** A client of the local speech-to-text server. By default it calls `http://127.0.0.1:8237`. */
export class AntiphonSpeech extends LocalSttClient {
  constructor(options: SpeechOptions = {}) {
    const connection = connectionOf(options, BASE_URL);
    const send = createSend(connection);
    const { streamTransport = isBrowser() ? "websocket" : "ndjson", openSocket = (url) => new WebSocket(url) } =
      options;
    super(streamTransport === "websocket" ? sendStreamsBySocket(send, connection, openSocket) : send);
  }
}
