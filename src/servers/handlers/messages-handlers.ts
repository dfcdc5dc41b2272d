import type { MessagesHandlers } from "@antiphon/contracts/messages/operations.ts";
import { countMessageTokens } from "../../faces/messages/count-message-tokens.ts";
import { createMessage } from "../../faces/messages/create-message.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { CreateContext } from "../../responses-api/create/begin-response.ts";
import type { FacesContext } from "./chat-completions-handlers.ts";

export function messagesHandlers(
  creating: CreateContext,
  { storesAll }: Pick<FacesContext, "storesAll">,
): MessagesHandlers<Caller> {
  return { createMessage: createMessage(creating, storesAll), countMessageTokens: countMessageTokens(creating) };
}
