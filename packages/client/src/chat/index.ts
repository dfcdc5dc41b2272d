export { AntiphonChatTransport, type ChatTransportOptions } from "./chat-transport.ts";
export type { ChatStorage } from "./kept-chats.ts";
