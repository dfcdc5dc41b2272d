import { mutationsOf } from "./mutations.fixture.ts";
import type { SampleEvent } from "./sample-streams.fixture.ts";
import { lintEvents, type StreamFault } from "./stream-linter.ts";

/** What is wrong with how the linter judges each mutation of a stream that is right: nothing, in the best case. */
export function misjudgedMutations(events: readonly SampleEvent[]): {
  readonly tried: number;
  readonly misjudged: readonly string[];
} {
  const mutations = mutationsOf(events);
  const misjudged = mutations.flatMap(({ title, events: mutated, at, rules }) => {
    const [first] = lintEvents(mutated).faults;
    if (first !== undefined && first.event >= at && rules.includes(first.rule)) return [];
    return [`${title}: ${rules.join(" or ")} is broken, and found was ${shown(first)}`];
  });
  return { tried: mutations.length, misjudged };
}

function shown(fault: StreamFault | undefined): string {
  return fault === undefined ? "nothing" : `${fault.rule} at ${fault.event} (${fault.says})`;
}
