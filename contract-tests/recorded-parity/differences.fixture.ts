import { isRecord } from "../records.fixture.ts";

/** A place where our reply and the recorded one part. */
export interface Difference {
  /** `only-recorded`, `only-ours`: a member that one of them lacks; `value`: both have it, and it differs. */
  readonly kind: "only-recorded" | "only-ours" | "value";
  /**
   * Members from the outside in, elements of lists as `[]`; of an event with its type before:
   * `response.created:response.tools[].strict`.
   */
  readonly path: string;
  readonly detail: string;
}

/** Every difference of two JSON values: members, lengths of lists, kinds and values. */
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

/** Both streams, event by event in their order; where the types part, nothing further is compared. */
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
