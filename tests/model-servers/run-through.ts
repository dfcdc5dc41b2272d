import type { Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { writeReasoningSecret } from "../../src/responses-api/input/reasoning-secret.ts";
import { foldEvents } from "../../src/runs/fold/fold-events.ts";
import { numberEvent } from "../../src/runs/numbering.ts";
import { aPlan, aResponse } from "../../src/runs/run.fixture.ts";
import { initialState, type Transition, transition, transitionAll } from "../../src/runs/transition.ts";

/**
 * The response that a run of this server makes of what an engine says: the fold of its events. Reasoning is not sealed,
 * so that a test can read the secret.
 */
export async function runThrough(engine: ModelEngine, request: ModelRequest): Promise<Response> {
  const plan = aPlan({
    response: aResponse({ model: request.model }),
    rawReasoningAs: request.reasoning.summary === null ? "text" : "summary",
    sealReasoning: (text, _id, sealedText) => writeReasoningSecret({ text, sealedText }),
  });
  const events: ResponseStreamEvent[] = [];
  const keep = (next: Transition): Transition["state"] => {
    for (const event of next.events) events.push(numberEvent(event, events.length));
    return next.state;
  };
  let state = keep(transition(initialState(plan), { type: "accepted" }));
  for await (const batch of await engine.sample(request, new AbortController().signal))
    state = keep(transitionAll(state, batch));
  keep(transition(state, { type: "model_ended", at: 1_800_000_005 }));
  return foldEvents(events);
}
