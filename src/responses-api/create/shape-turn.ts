import { type IdStem, idFromStem } from "@antiphon/base/ids.ts";
import type { CreateResponseRequest, Response, StoredItem, Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { MediaReader } from "@antiphon/domain/media.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Caller } from "../access/caller.ts";
import { checkToolChoice, checkTools } from "../checks/check-tools.ts";
import { type HistoryContext, loadHistory } from "../input/load-history.ts";
import { type ResolvedInput, resolveInput } from "../input/resolve-input.ts";
import { shapeContext } from "../input/shape-context.ts";
import { knownExchanges, withExchanges } from "../input/with-exchanges.ts";
import {
  type AcceptedTools,
  acceptTools,
  askerOf,
  labelsOf,
  type OfferedHostedTool,
} from "../offered-tools/accept-tools.ts";
import type { Sealer } from "../seal.ts";
import { modelRequest, withConfiguration } from "../task/model-request.ts";
import type { ToolContext } from "../tool-loop/loop-parts.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { withJoinedTools } from "./joined-tools.ts";
import type { ServedModel } from "./notes/run-notes.ts";
import { Stages } from "./stages.ts";

/** What turns are shaped with, by subject. */
export interface ShapingContext {
  readonly model: ServedModel;
  readonly history: HistoryContext;
  readonly tools: ToolContext;
  /** Encrypts content that clients store and send back, such as reasoning. */
  readonly sealer: Sealer;
  /** Converts pictures, files and recordings for the model. */
  readonly media: MediaReader;
}

export interface ShapedTurn {
  /** All items in stored form: history, then input. */
  readonly items: readonly StoredItem[];
  /** The request to the model, without the functions of hosted tools. */
  readonly request: ModelRequest;
  /** The tools of the request that this server runs. */
  readonly hostedTools: readonly OfferedHostedTool[];
  /** The context in stored form. */
  readonly context: readonly StoredItem[];
}

/** The first turn of a create call with this request. Calls no model and stores nothing. */
export async function shapeTurn(
  context: ShapingContext,
  caller: Caller,
  body: CreateResponseRequest,
  ids: IdStem,
): Promise<ShapedTurn> {
  const { history, input, turn, accepted: offer } = await SHAPING.run({ sent: body, caller, ids }, context);
  return {
    items: [...history, ...input.items],
    request: turn,
    hostedTools: offer.hostedTools,
    context: input.context,
  };
}

/** A request as it was sent, and from what the ids of its response are made. */
export interface SentDraft {
  readonly sent: CreateResponseRequest;
  readonly caller: Caller;
  readonly ids: IdStem;
}

export interface WithHistory {
  /** The items before those of the request, oldest first. */
  readonly history: readonly StoredItem[];
}

export interface WithOffer {
  /** The tools of the request, sorted. */
  readonly accepted: AcceptedTools;
}

export interface WithInput {
  readonly input: ResolvedInput;
  /** The request with what configuration items change. */
  readonly request: CreateResponseRequest;
}

export interface WithTools {
  /** The tools of the request, and those that items of its context added. */
  readonly tools: readonly Tool[];
}

export interface WithTurn {
  /** The first snapshot. */
  readonly response: Response;
  readonly turn: ModelRequest;
}

const SHAPING = Stages.of<SentDraft, ShapingContext>()
  .add(loadItems)
  .add(sortTools)
  .add(resolveItems)
  .add(joinTools)
  .add(shapeItems);

/** Loads the history. */
export async function loadItems<Draft extends Omit<SentDraft, "ids">>(
  draft: Draft,
  { history }: Pick<ShapingContext, "history">,
): Promise<Draft & WithHistory> {
  return { ...draft, history: await loadHistory(history, draft.caller, draft.sent) };
}

/** Sorts the tools of the request. */
export async function sortTools<Draft extends Omit<SentDraft, "ids">>(
  draft: Draft,
  { tools, model }: Pick<ShapingContext, "tools" | "model">,
): Promise<Draft & WithOffer> {
  const { sent, caller } = draft;
  await checkTools(sent);
  const asker = askerOf(model.engine, sent.model ?? "", caller.principal);
  return { ...draft, accepted: await acceptTools(tools.catalogue, sent, asker) };
}

/** Turns the input into stored items and joins it with the history. */
export async function resolveItems<Draft extends SentDraft & WithHistory>(
  draft: Draft,
  { history: { store }, sealer }: Pick<ShapingContext, "history" | "sealer">,
): Promise<Draft & WithInput> {
  const { sent, caller, ids, history } = draft;
  const input = await resolveInput({ store, sealer }, caller.principal.owner, ids, { body: sent, history });
  return { ...draft, input, request: withConfiguration(sent, history, input.items) };
}

/** Joins the tools of the request with those of the context. */
export function joinTools<Draft extends WithOffer & WithInput>(draft: Draft): Draft & WithTools {
  const { accepted, input, request } = draft;
  const tools = withJoinedTools(accepted.echoes, input);
  checkToolChoice(request, tools);
  return { ...draft, tools };
}

/**
 * Makes the first snapshot and the turn, with the context as the model sees it: media and reasoning shaped, calls of
 * hosted tools as it made and saw them.
 */
export async function shapeItems<Draft extends SentDraft & WithOffer & WithInput & WithTools>(
  draft: Draft,
  { model, tools: { ledger }, sealer, media }: Omit<ShapingContext, "history">,
): Promise<Draft & WithTurn> {
  const { caller, ids, accepted, input, request, tools } = draft;
  const reasoning = model.engine.reasoningDefaults(request.model ?? "");
  const response = firstSnapshot(request, { tools, reasoning }, idFromStem("resp", ids, 0), ids.createdAt);
  const abilities = model.engine.abilitiesOf(request.model ?? "");
  const shaped = await shapeContext({ sealer, media, abilities }, caller, input.context, input.places);
  const known = knownExchanges(ledger, caller, request);
  const offered = { mcpServers: labelsOf(accepted.hostedTools) };
  const seen = await withExchanges(known, caller.principal.owner, shaped, offered);
  const turn = modelRequest(request, response, seen, accepted);
  return {
    ...draft,
    response,
    turn: { ...turn, payer: caller.principal.keyId, ...(caller.extras == null ? {} : { extras: caller.extras }) },
  };
}
