import type { CreateResponseRequest, StoredItem } from "../../generated/responses-api/types.ts";
import { type IdStem, idFromStem, newIdStem } from "../base/ids.ts";
import type { OpenedRun } from "../runs/ports.ts";
import { checkAvailability, type EngineKind } from "./check-availability.ts";
import { acceptedTools, checkTextFormat, checkToolChoice } from "./check-tools.ts";
import { backgroundWithoutStore, jsonWordMissing, nothingToAnswer } from "./errors/parameter-errors.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { type HistorySources, loadHistory } from "./load-history.ts";
import { estimateInputTokens, modelRequest } from "./model-request.ts";
import { type InputSources, resolveInput } from "./resolve-input.ts";
import type { RunTask } from "./run-task.ts";
import { type ContextScope, type ContextSources, shapeContext } from "./shape-context.ts";

export interface PreparedRun {
  readonly task: RunTask;
  readonly opened: OpenedRun;
}

export interface RunSources extends InputSources, ContextSources, HistorySources {
  readonly engineKind: EngineKind;
  readonly store: InputSources["store"] & HistorySources["store"];
}

const SEALED_REASONING_INCLUDE = "reasoning.encrypted_content";

/** Everything a run needs, from a request whose form was checked. Asks for state first, as the reference does, and for sense last. */
export async function prepareRun(
  sources: RunSources,
  scope: ContextScope,
  request: CreateResponseRequest,
  createdAt: number,
): Promise<PreparedRun> {
  const { owner } = scope;
  checkAvailability(request, sources.engineKind);
  if (request.background === true && request.store === false) throw backgroundWithoutStore();
  const history = await loadHistory(sources, owner, request);
  checkSomethingToAnswer(request);
  const tools = acceptedTools(request);
  checkToolChoice(request, tools);
  checkTextFormat(request);
  const ids = newIdStem(createdAt, stemKey(request.previous_response_id));
  const { items, context } = await resolveInput(sources, owner, ids, request.input ?? [], history);
  checkJsonWord(request, context);
  const response = firstSnapshot(request, tools, idFromStem("resp", ids, 0), createdAt);
  const asked = modelRequest(request, response, await shapeContext(sources, scope, context));
  const task: RunTask = {
    ids,
    rawReasoningAs: response.reasoning?.summary == null ? "text" : "summary",
    sealsReasoning: (request.include ?? []).includes(SEALED_REASONING_INCLUDE),
    inputTokensEstimate: estimateInputTokens(asked),
    request: asked,
  };
  const isBackground = response.background === true;
  return {
    task,
    opened: {
      owner,
      response,
      inputItems: items,
      task: isBackground ? JSON.stringify(task) : null,
      streamed: request.stream === true,
    },
  };
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
