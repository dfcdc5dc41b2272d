import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import {
  validateCreateConversationItemsRequest,
  validateCreateConversationRequest,
} from "../../../generated/responses-api/validators.js";
import type { ApiContext } from "../../responses-api/access/context.ts";
import { checkItemsBody } from "../../responses-api/checks/check-body.ts";
import { createConversation } from "../../responses-api/operations/create-conversation.ts";
import { createConversationItems } from "../../responses-api/operations/create-conversation-items.ts";
import { deleteConversation } from "../../responses-api/operations/delete-conversation.ts";
import { deleteConversationItem } from "../../responses-api/operations/delete-conversation-item.ts";
import { getConversation } from "../../responses-api/operations/get-conversation.ts";
import { getConversationItem } from "../../responses-api/operations/get-conversation-item.ts";
import { listConversationItems } from "../../responses-api/operations/list-conversation-items.ts";
import { updateConversation } from "../../responses-api/operations/update-conversation.ts";
import type { Store } from "../../store/open-store.ts";
import type { BodyCheck } from "../../transport/contract.ts";

/** Lists of items hold references without a type, which the schema alone does not tell. */
export const conversationBodyChecks: Readonly<Record<string, BodyCheck>> = {
  createConversation: (body) =>
    body === undefined ? undefined : checkItemsBody(body, validateCreateConversationRequest),
  createConversationItems: (body) => checkItemsBody(body, validateCreateConversationItemsRequest),
};

type ConversationOperation =
  | "createConversation"
  | "createConversationItems"
  | "deleteConversation"
  | "deleteConversationItem"
  | "getConversation"
  | "getConversationItem"
  | "listConversationItems"
  | "updateConversation";

/** The operations on conversations and their items. */
export function conversationHandlers({
  responses: store,
  conversations,
}: Pick<Store, "responses" | "conversations">): Pick<ResponsesApiHandlers<ApiContext>, ConversationOperation> {
  const adding = { store, conversations };
  return {
    createConversation: createConversation(adding),
    getConversation: getConversation(conversations),
    updateConversation: updateConversation(conversations),
    deleteConversation: deleteConversation(conversations),
    createConversationItems: createConversationItems(adding),
    listConversationItems: listConversationItems(conversations),
    getConversationItem: getConversationItem(conversations),
    deleteConversationItem: deleteConversationItem(conversations),
  };
}
