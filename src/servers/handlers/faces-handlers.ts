import type { ChatCompletionsHandlers } from "@antiphon/contracts/chat-completions/operations.ts";
import type { MessagesHandlers } from "@antiphon/contracts/messages/operations.ts";
import type { ResponseArchive } from "@antiphon/domain/inspection.ts";
import type { AudioParts } from "@antiphon/speech/audio-api/ports.ts";
import { admittedAudio } from "../../faces/audio/admitted-audio.ts";
import { createChatCompletion } from "../../faces/chat-completions/create-chat-completion.ts";
import {
  deleteChatCompletion,
  getChatCompletion,
  listChatCompletionMessages,
  listChatCompletions,
  updateChatCompletion,
} from "../../faces/chat-completions/stored-completions.ts";
import { createCompletion } from "../../faces/completions/create-completion.ts";
import { countMessageTokens } from "../../faces/messages/count-message-tokens.ts";
import { createMessage } from "../../faces/messages/create-message.ts";
import { callMcpServer } from "../../mcp-server/mcp-route.ts";
import type { McpServing } from "../../mcp-server/mcp-serving.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { CreateContext } from "../../responses-api/create/begin-response.ts";

export interface FacesContext {
  readonly archive: ResponseArchive;
  /** Whether responses of all faces are stored, for the inspector. */
  readonly storesAll: boolean;
}

interface DoorContexts {
  readonly creating: CreateContext;
  readonly faces: FacesContext;
  /** Null if this server serves no MCP clients. */
  readonly mcp: McpServing | null;
  readonly audio: AudioParts;
}

/** The operations beside those of the Responses API. `allowsOrigin`: whether pages of an origin may call. */
export function doorHandlers(
  { creating, faces, mcp, audio }: DoorContexts,
  allowsOrigin: (origin: string) => boolean,
): ReturnType<typeof facesHandlers> & ReturnType<typeof admittedAudio> {
  const { limiter, budgets, ordering } = creating;
  const accounts = { limiter, budgets, meter: ordering.meter };
  return {
    ...facesHandlers(creating, faces),
    ...admittedAudio(audio, accounts),
    ...(mcp === null ? {} : callMcpServer(mcp, allowsOrigin)),
  };
}

/** The operations of chat completions and of messages. */
function facesHandlers(
  creating: CreateContext,
  { archive, storesAll }: FacesContext,
): ChatCompletionsHandlers<Caller> & MessagesHandlers<Caller> {
  const context = { watching: creating.watching, archive, sealer: creating.preparing.sealer };
  return {
    createChatCompletion: createChatCompletion(creating, storesAll),
    countMessageTokens: countMessageTokens(creating),
    createMessage: createMessage(creating, storesAll),
    createCompletion: createCompletion(creating, storesAll),
    deleteChatCompletion: deleteChatCompletion(context),
    getChatCompletion: getChatCompletion(context),
    listChatCompletionMessages: listChatCompletionMessages(context),
    listChatCompletions: listChatCompletions(context),
    updateChatCompletion: updateChatCompletion(context),
  };
}
