import type { StreamFault } from "./fault-list.ts";
import { mutationsOf } from "./mutations.fixture.ts";
import type { SampleEvent } from "./sample-streams.fixture.ts";
import { lintEvents } from "./stream-linter.ts";

/** Lists the mutations of a legal stream for which the linter does not report the expected rule and event first. */
export function misjudgedMutations(events: readonly SampleEvent[]): {
  readonly tried: number;
  readonly misjudged: readonly string[];
} {
  const mutations = mutationsOf(events);
  const misjudged = mutations.flatMap(({ title, events: mutated, at, rules }) => {
    const [first] = lintEvents(mutated).faults;
    if (first !== undefined && first.event >= at && rules.includes(first.rule)) return [];
    return [`${title}: ${rules.join(" or ")} should be broken, but the linter found ${shown(first)}`];
  });
  return { tried: mutations.length, misjudged };
}

function shown(fault: StreamFault | undefined): string {
  return fault === undefined ? "nothing" : `${fault.rule} at ${fault.event} (${fault.says})`;
}
