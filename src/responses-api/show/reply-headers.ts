import type { CreateResponseRequest, ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { AnsweringServer, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { StoredResponse } from "@antiphon/domain/responses.ts";
import type { Caller } from "../access/caller.ts";
import { askerOf, omittedTypes } from "../offered-tools/accept-tools.ts";

/** What requests are compared with. */
export interface OfferContext {
  readonly tools: { readonly catalogue: HostedTools };
  readonly model: { readonly engine: ModelEngine };
}

/** Names the tools that the request is answered without. */
export function omittedHeader(
  { tools, model }: OfferContext,
  body: CreateResponseRequest,
  { principal }: Pick<Caller, "principal">,
): Readonly<Record<string, string>> {
  const types = omittedTypes(tools.catalogue, body, askerOf(model.engine, body.model ?? "", principal));
  return types.length === 0 ? {} : { "x-antiphon-omitted-tools": types.join(", ") };
}

/** Lists the features that this server emulates. */
export function emulatedHeader(notes: readonly ResponseNote[]): Readonly<Record<string, string>> {
  const names = notes.filter(({ kind }) => kind === "emulated").map(({ what }) => what);
  return names.length === 0 ? {} : { "x-antiphon-emulated": names.join(", ") };
}

/** Names the response that took the input which was added to this one. */
export function successorHeader({
  successorId,
}: Pick<StoredResponse, "successorId">): Readonly<Record<string, string>> {
  return successorId === null ? {} : { "x-antiphon-successor": successorId };
}

/** Names the model server that answers, and its name for the model; nothing if there is only one. */
export function modelServerHeader(by: AnsweringServer | null): Readonly<Record<string, string>> {
  return by === null ? {} : { "x-antiphon-model-server": `${by.server}/${encodeURIComponent(by.model)}` };
}
