import { dialectEventTypes, obfuscatedEventTypes } from "@antiphon/contracts/responses-api/events.ts";
import type { StreamChannel } from "@antiphon/contracts/responses-api/types.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Numbering } from "../../runs/numbering.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { aPlan } from "../../runs/run.fixture.ts";
import type { RunState } from "../../runs/run-state.ts";
import { anySignals } from "../../runs/signals.fixture.ts";
import { initialState, transition } from "../../runs/transition.ts";
import { shownEvents } from "./show-events.ts";

/** The events of runs, in one batch for each signal. */
const anyBatches = anySignals(30).map((signals) => {
  const numbering = new Numbering(0);
  let state: RunState = initialState(aPlan());
  return [{ type: "accepted" } as const, ...signals].map((signal) => {
    const next = transition(state, signal);
    state = next.state;
    return numbering.number(next.events);
  });
});

const anyOptions = fc.record({
  padded: fc.boolean(),
  dialect: fc.boolean(),
  channels: fc.option(
    fc.uniqueArray(fc.constantFrom<StreamChannel[]>("output_text", "tool_call")).map((list) => new Set(list)),
  ),
});

async function* inTurn(batches: readonly (readonly RecordedEvent[])[]) {
  yield* batches;
}

/** The family of an event, as far as these tests choose among them. */
function channelOf(type: string): string | null {
  if (type.startsWith("response.output_text.")) return "output_text";
  if (/_call_(arguments|input)\.|tool_call_input\./.test(type)) return "tool_call";
  return /^response\.(audio|refusal|reasoning_text|reasoning_summary_text)\./.test(type) ? "another" : null;
}

const names: Readonly<Record<string, string>> = dialectEventTypes;
const obfuscated: readonly string[] = obfuscatedEventTypes;

test("shown events are the recorded ones but for padding, names and left out families", async () => {
  await fc.assert(
    fc.asyncProperty(anyBatches, anyOptions, async (batches, options) => {
      const { channels, dialect, padded } = options;
      const recorded = batches.flat().filter(({ type }) => {
        const channel = channelOf(type);
        return channels === null || channel === null || [...channels].some((wanted) => wanted === channel);
      });
      let index = 0;
      for await (const shown of shownEvents(inTurn(batches), options)) {
        const { event } = recorded[index++] ?? {};
        if (event === undefined) throw new Error("more events are shown than were recorded");
        const { obfuscation, ...rest } = { obfuscation: undefined, ...shown };
        const type = dialect ? (names[event.type] ?? event.type) : event.type;
        const { code, message, param } = event.type === "error" ? event.error : {};
        if (event.type === "error" && dialect) expect(rest).toMatchObject({ type, code, message, param });
        else expect(JSON.stringify(rest)).toBe(JSON.stringify({ ...event, type }));
        expect(obfuscation !== undefined).toBe(padded && obfuscated.includes(event.type));
        if (obfuscation !== undefined && "delta" in event && typeof event.delta === "string")
          expect((obfuscation.length + [...event.delta].length) % 16).toBe(0);
      }
      expect(index).toBe(recorded.length);
    }),
    { numRuns: 200 },
  );
});
