import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { expect, test } from "vitest";
import { ResponseFold } from "../fold/fold-events.ts";
import { numberEvent } from "../numbering.ts";
import { aPlan } from "../run.fixture.ts";
import type { RunSignal } from "../run-state.ts";
import { initialState, transition } from "../transition.ts";
import type { UnnumberedEvent } from "../wire-event.ts";

const model = (event: ModelEvent): RunSignal => ({ type: "model", event });
const says = model({ type: "text_delta", text: "Hi." });
const words = model({ type: "audio_transcript_delta", text: "Hi." });
const sound = model({ type: "audio_delta", audio: "AAAA" });
const silence = model({ type: "audio_done" });
const stop = model({ type: "finished", reason: "stop" });
const ended: RunSignal = { type: "model_ended", at: 1_800_000_009 };
const cancelled: RunSignal = { type: "cancelled" };
const failed: RunSignal = {
  type: "model_failed",
  failure: {
    type: "server_error",
    code: "server_error",
    message: "It broke.",
    param: null,
    responseCode: "server_error",
  },
};

function eventsOf(signals: readonly RunSignal[]): readonly UnnumberedEvent[] {
  const events: UnnumberedEvent[] = [];
  let state = initialState(aPlan());
  for (const signal of [{ type: "accepted" } as const, ...signals]) {
    const next = transition(state, signal);
    state = next.state;
    events.push(...next.events);
  }
  return events;
}

/** Compares the audio events and the event that ends the run. */
function check(signals: readonly RunSignal[], expected: readonly string[]): void {
  const types = eventsOf(signals).map(({ type }) => type.replace("response.", ""));
  expect(types.filter((type) => /^(audio|completed|failed|error)/.test(type))).toEqual(expected);
}

const HEARD = ["audio.transcript.delta", "audio.delta"];
const DONE = ["audio.done", "audio.transcript.done"];

test("sound is streamed as it arrives and ends at audio_done", () => {
  check([says, words, sound, silence, stop, ended], [...HEARD, ...DONE, "completed"]);
  check([says, words, sound, sound, silence, stop, ended], [...HEARD, "audio.delta", ...DONE, "completed"]);
});

test("audio_done without any sound still sends the end events, once", () => {
  check([says, silence, stop, ended], [...DONE, "completed"]);
  check([says, stop, ended], ["completed"]);
});

test("open sound is ended before the event that ends the run", () => {
  check([says, words, sound, stop, ended], [...HEARD, ...DONE, "completed"]);
  check([says, words, sound, cancelled], [...HEARD, ...DONE, "failed"]);
  check([says, words, sound, failed], [...HEARD, ...DONE, "error", "failed"]);
  check([says, sound, silence, cancelled], ["audio.delta", ...DONE, "failed"]);
});

test("sound does not change the response object", () => {
  const fold = (signals: readonly RunSignal[]) => {
    const folding = new ResponseFold();
    for (const [index, event] of eventsOf(signals).entries()) folding.apply(numberEvent(event, index));
    return folding.response;
  };
  expect(fold([says, words, sound, silence, stop, ended])).toEqual(fold([says, stop, ended]));
});
