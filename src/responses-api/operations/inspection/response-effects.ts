import { pageOf } from "@antiphon/base/page-of.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { EffectStore, ResponseArchive } from "@antiphon/domain/inspection.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound, effectNotFound, effectNotUnknown, responseNotFound } from "../../errors/state-errors.ts";
import { listBody } from "../../show/list-body.ts";

const PAGE_EFFECTS_DEFAULT = 20;

export interface EffectsContext {
  readonly archive: ResponseArchive;
  readonly effects: EffectStore;
}

/** `GET /v1/responses/{response_id}/effects`: the calls of tools of a response, with their attempts. */
export function listResponseEffects({
  archive,
  effects,
}: EffectsContext): ResponsesApiHandlers<Caller>["listResponseEffects"] {
  return async ({ path: { response_id: id }, query }, { principal: { owner } }) => {
    const { limit = PAGE_EFFECTS_DEFAULT, order = "desc", after = null } = query;
    if ((await archive.findRecord(owner, id)) === null) throw responseNotFound(id);
    const rest = pageOf(await effects.list(owner, id), { order, after }, null);
    if (rest === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody({ entries: rest.slice(0, limit), hasMore: rest.length > limit }) };
  };
}

/** `POST /v1/responses/{response_id}/effects/{effect_id}`: a person has found out what became of a call. */
export function settleResponseEffect({
  archive,
  effects,
}: EffectsContext): ResponsesApiHandlers<Caller>["settleResponseEffect"] {
  return async ({ path: { response_id: id, effect_id: itemId }, body: { state, note = null } }, { principal }) => {
    const { owner, keyId, keyName = null } = principal;
    if ((await archive.findRecord(owner, id)) === null) throw responseNotFound(id);
    const settledAt = Math.floor(Date.now() / 1000);
    const settlement = { state, note, settled_at: settledAt, key: { id: keyId, name: keyName } };
    const wasUnknown = await effects.settle(owner, { responseId: id, itemId }, settlement);
    const effect = (await effects.list(owner, id)).find((one) => one.id === itemId);
    if (effect === undefined) throw effectNotFound(id, itemId);
    if (!wasUnknown) throw effectNotUnknown(itemId, effect.state);
    return { status: 200, body: effect };
  };
}
