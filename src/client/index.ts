export type { ChannelOptions, MessageStream } from "../../generated/local-stt/cloud-client.ts";
export type * as LocalStt from "../../generated/local-stt/types.ts";
export type {
  CloudClientMessage,
  CloudServerMessage,
  SttClientMessage,
  SttServerMessage,
  Transcription,
} from "../../generated/local-stt/types.ts";
export type { EventStream, RequestOptions, Upload } from "../../generated/responses-api/client.ts";
export type * as ResponsesApi from "../../generated/responses-api/types.ts";
export type {
  AnyStreamEvent,
  CreateResponseRequest,
  DialectStreamEvent,
  InputItem,
  OutputItem,
  Response,
  ResponseStreamEvent,
  StoredItem,
  ToolInput,
} from "../../generated/responses-api/types.ts";
export { Antiphon } from "./antiphon.ts";
export { AntiphonCloudSpeech } from "./antiphon-cloud-speech.ts";
export { AntiphonSpeech, type SpeechOptions } from "./antiphon-speech.ts";
export { base64Of } from "./base64.ts";
export type { CloudSpeechOptions } from "./cloud-service.ts";
export type { ConnectionOptions, Fetch } from "./connection.ts";
export {
  AntiphonError,
  APIConnectionError,
  APIError,
  APITimeoutError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  IdleTimeoutError,
  InternalServerError,
  InvalidMessageError,
  InvalidReplyError,
  NotFoundError,
  NotImplementedError,
  PermissionDeniedError,
  RateLimitError,
  StreamBrokenError,
  UnprocessableEntityError,
  UnsupportedFormatError,
} from "./errors.ts";
export type { KeyedSocket, OpenKeyedSocket, UpgradeReply } from "./keyed-socket.ts";
export { pcmMessages } from "./pcm-messages.ts";
export type { OpenSocket, Socket } from "./socket-inbox.ts";
