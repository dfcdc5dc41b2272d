export type { ChannelOptions, MessageStream } from "@antiphon/contracts/local-stt/cloud-client.ts";
export type * as LocalStt from "@antiphon/contracts/local-stt/types.ts";
export type {
  CloudClientMessage,
  CloudServerMessage,
  SttClientMessage,
  SttServerMessage,
  Transcription,
} from "@antiphon/contracts/local-stt/types.ts";
export type { EventStream, RequestOptions, Upload } from "@antiphon/contracts/responses-api/client.ts";
export type * as ResponsesApi from "@antiphon/contracts/responses-api/types.ts";
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
} from "@antiphon/contracts/responses-api/types.ts";
export { Antiphon } from "./antiphon.ts";
export { AntiphonCloudSpeech } from "./antiphon-cloud-speech.ts";
export { AntiphonSpeech, type SpeechOptions } from "./antiphon-speech.ts";
export { base64Of } from "./base64.ts";
export type { ConnectionOptions, Fetch } from "./http/connection.ts";
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
} from "./http/errors.ts";
export type { CloudSpeechOptions } from "./speech/cloud-service.ts";
export type { KeyedSocket, OpenKeyedSocket, UpgradeReply } from "./speech/keyed-socket.ts";
export { pcmMessages } from "./speech/pcm-messages.ts";
export type { OpenSocket, Socket } from "./speech/socket-inbox.ts";
