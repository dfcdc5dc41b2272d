import type { CreateResponseRequest, StoredItem } from "../../generated/responses-api/types.ts";
import { type IdStem, idFromStem, newIdStem } from "../base/ids.ts";
import type { RunPlan } from "../runs/index.ts";
import type { ModelRequest, OpenedRun, Owner } from "../runs/ports.ts";
import { checkAvailability, type EngineKind } from "./check-availability.ts";
import { acceptedTools, checkTextFormat, checkToolChoice } from "./check-tools.ts";
import { jsonWordMissing, nothingToAnswer } from "./errors/parameter-errors.ts";
import { previousResponseNotFound, previousResponseRunning } from "./errors/state-errors.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { estimateInputTokens, modelRequest } from "./model-request.ts";
import type { ResponseStore } from "./ports.ts";
import { type InputSources, ownerText, resolveInput } from "./resolve-input.ts";

export interface PreparedRun {
  readonly plan: RunPlan;
  readonly opened: OpenedRun;
  readonly modelRequest: ModelRequest;
}

export interface RunSources extends InputSources {
  readonly engineKind: EngineKind;
  readonly store: Pick<ResponseStore, "findItems" | "loadChain">;
}

const SEALED_REASONING_INCLUDE = "reasoning.encrypted_content";

/** Everything a run needs, from a request whose form was checked. Asks for state first, as the reference does, and for sense last. */
export async function prepareRun(
  sources: RunSources,
  owner: Owner,
  request: CreateResponseRequest,
  createdAt: number,
): Promise<PreparedRun> {
  checkAvailability(request, sources.engineKind);
  const history = await loadHistory(sources, owner, request);
  checkSomethingToAnswer(request);
  const tools = acceptedTools(request);
  checkToolChoice(request, tools);
  checkTextFormat(request);
  const stem = newIdStem(createdAt, stemKey(request.previous_response_id));
  const { items, context } = await resolveInput(sources, owner, stem, request.input ?? [], history);
  checkJsonWord(request, context);
  const response = firstSnapshot(request, tools, idFromStem("resp", stem, 0), createdAt);
  const asked = modelRequest(request, response, context);
  return {
    plan: {
      response,
      ids: stem,
      rawReasoningAs: response.reasoning?.summary == null ? "text" : "summary",
      sealReasoning: sealFor(sources, owner, request),
      inputTokensEstimate: estimateInputTokens(asked),
    },
    opened: { owner, response, inputItems: items },
    modelRequest: asked,
  };
}

async function loadHistory(
  sources: RunSources,
  owner: Owner,
  request: CreateResponseRequest,
): Promise<readonly StoredItem[]> {
  const previousId = request.previous_response_id ?? null;
  if (previousId === null) return [];
  const chain = await sources.store.loadChain(owner, previousId);
  const last = chain?.at(-1);
  if (chain == null || last === undefined) throw previousResponseNotFound(previousId);
  if (last.status === "in_progress" || last.status === "queued") throw previousResponseRunning(previousId);
  const items = chain.flatMap((link) => link.items);
  return request.reasoning?.context === "current_turn" ? items.filter(({ type }) => type !== "reasoning") : items;
}

function checkSomethingToAnswer({ input, previous_response_id }: CreateResponseRequest): void {
  const empty = input === undefined || input === null || input.length === 0;
  if (empty && previous_response_id == null) throw nothingToAnswer();
}

/** Responses of one chain share the first 16 digits of their ids. */
function stemKey(previousId: string | null | undefined): IdStem["key"] | undefined {
  return /^resp_([0-9a-f]{16})/.exec(previousId ?? "")?.[1];
}

function checkJsonWord({ text }: CreateResponseRequest, context: readonly StoredItem[]): void {
  if (text?.format?.type !== "json_object") return;
  const said = context.some(
    (item) => item.type === "message" && item.content.some((part) => "text" in part && /json/i.test(part.text)),
  );
  if (!said) throw jsonWordMissing();
}

function sealFor(sources: RunSources, owner: Owner, request: CreateResponseRequest): RunPlan["sealReasoning"] {
  if (!(request.include ?? []).includes(SEALED_REASONING_INCLUDE)) return null;
  return (text, itemId) => sources.sealer.seal(text, itemId, ownerText(owner));
}
