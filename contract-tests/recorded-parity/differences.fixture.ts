import { isRecord } from "../records.fixture.ts";

/** A place where our reply and the recorded one differ. */
export interface Difference {
  /**
   * `only-recorded` and `only-ours` mean that the other side lacks the member; `value` means that both have it with
   * different values.
   */
  readonly kind: "only-recorded" | "only-ours" | "value";
  /**
   * Member names from the outermost, with `[]` for list elements. An event's type comes first:
   * `response.created:response.tools[].strict`.
   */
  readonly path: string;
  readonly detail: string;
}

/** Returns every difference between two JSON values: members, list lengths, types and values. */
export function differencesOf(recorded: unknown, ours: unknown, path = ""): Difference[] {
  if (Array.isArray(recorded) && Array.isArray(ours)) return differencesOfLists(recorded, ours, path);
  if (!isRecord(recorded) || !isRecord(ours))
    return recorded === ours ? [] : [difference("value", path, recorded, ours)];
  return [...new Set([...Object.keys(recorded), ...Object.keys(ours)])].flatMap((name) => {
    const member = path === "" || path.endsWith(":") ? `${path}${name}` : `${path}.${name}`;
    if (!Object.hasOwn(ours, name)) return [difference("only-recorded", member, recorded[name], undefined)];
    if (!Object.hasOwn(recorded, name)) return [difference("only-ours", member, undefined, ours[name])];
    return differencesOf(recorded[name], ours[name], member);
  });
}

/** Compares two streams event by event, and stops at the first event whose type differs. */
export function differencesOfStreams(recorded: readonly object[], ours: readonly object[]): Difference[] {
  const types = differencesOf(recorded.map(typeOf), ours.map(typeOf), "events");
  if (types.length > 0) return types;
  return recorded.flatMap((event, index) => differencesOf(event, ours[index], `${typeOf(event)}:`));
}

function differencesOfLists(recorded: readonly unknown[], ours: readonly unknown[], path: string): Difference[] {
  const lengths =
    recorded.length === ours.length ? [] : [difference("value", `${path}.length`, recorded.length, ours.length)];
  const shared = recorded.slice(0, ours.length);
  return [...lengths, ...shared.flatMap((element, index) => differencesOf(element, ours[index], `${path}[]`))];
}

function difference(kind: Difference["kind"], path: string, recorded: unknown, ours: unknown): Difference {
  return { kind, path, detail: `recorded ${shorten(recorded)}, ours ${shorten(ours)}` };
}

function shorten(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 100);
}

function typeOf(event: object): unknown {
  return "type" in event ? event.type : undefined;
}
