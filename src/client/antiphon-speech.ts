import { LocalSttClient } from "../../generated/local-stt/client.ts";
import { type ConnectionOptions, connectionOf } from "./http/connection.ts";
import { createSend } from "./http/send.ts";
import { isBrowser } from "./platform.ts";
import type { OpenSocket } from "./speech/socket-inbox.ts";
import { sendStreamsBySocket } from "./speech/socket-stream.ts";

const BASE_URL = "http://127.0.0.1:8237";

export interface SpeechOptions extends Omit<ConnectionOptions, "apiKey"> {
  /**
   * How `streamTranscription` travels; the messages are the same. In browsers `websocket` unless told, as their fetch
   * cannot send and hear at once; elsewhere `ndjson`.
   */
  readonly streamTransport?: "ndjson" | "websocket";
  /** In place of the global WebSocket, which Node has from version 22 on. */
  readonly openSocket?: OpenSocket;
}

/** Speech to text on this machine. */
export class AntiphonSpeech extends LocalSttClient {
  constructor(options: SpeechOptions = {}) {
    const connection = connectionOf(options, BASE_URL);
    const send = createSend(connection);
    const { streamTransport = isBrowser() ? "websocket" : "ndjson", openSocket = (url) => new WebSocket(url) } =
      options;
    super(streamTransport === "websocket" ? sendStreamsBySocket(send, connection, openSocket) : send);
  }
}
