import type { SttClientMessage, SttServerMessage } from "../../generated/local-stt/types.ts";
import type { ApiError } from "../base/api-error.ts";
import { readMessage } from "./read-message.ts";
import { streamFault } from "./stream-fault.ts";
import type { SessionOptions } from "./stt-session.ts";

/** How one kind of stream says what a session hears and answers. */
export interface StreamProtocol<Message> extends SessionOptions {
  /**
   * What a client's message means; null: no more than that the client is there. Throws the `ApiError` of a broken
   * message.
   */
  read(value: unknown): SttClientMessage | null;
  /** How an answer is said; null: it is left out. */
  write(answer: SttServerMessage): Message | null;
  /** What is told of an error that reading the stream threw; null: the connection itself broke, and nobody listens. */
  faultOf(error: unknown): ApiError | null;
  /** How the error that ends the stream is told. */
  endOf(error: ApiError): ApiError;
}

/** stt-jsonl-v1, whose messages are the session's own. */
export function jsonLines(interim: boolean): StreamProtocol<SttServerMessage> {
  return {
    interim,
    finals: "asked",
    read: readMessage,
    write: (answer) => answer,
    faultOf: streamFault,
    endOf: (error) => error,
  };
}
