import type { ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { readSealedText } from "../sealed-text.ts";
import { extraMembers, type RequestForm } from "./map-responses-request.ts";

/** The server, and whether an earlier turn of the model has shown that it refuses members that it does not know. */
interface NotedServer extends Pick<RequestForm, "isReference" | "server"> {
  readonly lacksExtras: boolean;
}

const REASONING: ResponseNote = {
  kind: "omitted",
  what: "input",
  why: "The model server is not sent reasoning that it did not encrypt itself: it takes none.",
};

/** Notes on members of a turn that are not sent. */
export function notesOnResponsesRequest(
  { extras, items }: Pick<ModelRequest, "extras" | "items">,
  { isReference, server, lacksExtras }: NotedServer,
): readonly ResponseNote[] {
  const hasReasoning = items.some(
    (item) => item.type === "reasoning" && readSealedText(server, item.encrypted_content) === null,
  );
  const names = isReference || lacksExtras ? Object.keys(extraMembers({ extras: extras ?? null })) : [];
  return [...(isReference && hasReasoning ? [REASONING] : []), ...names.map(unsentMember)];
}

function unsentMember(name: string): ResponseNote {
  return { kind: "omitted", what: name, why: "The model server is not sent it: its Responses API does not have it." };
}
