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

/** The differences of event types and of members, without those of values. */
export function differencesOfForm(found: readonly Difference[]): Difference[] {
  return found.filter(({ kind, path }) => kind !== "value" || path.startsWith("events"));
}

/**
 * Leaves out reasoning items without a word, which models outside of the reference do not send, and all but the first
 * of several deltas of one text, since a provider cuts them where it likes.
 */
export function essenceOf(events: readonly object[]): object[] {
  const told = events.filter((event) => !("item" in event && isSilent(event.item))).map(withoutSilence);
  return told.filter((event, index) => !isDelta(event) || typeOf(event) !== typeOf(told[index - 1] ?? {}));
}

/** Leaves reasoning items without a word out of the output of a response. */
export function withoutSilence<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
    Array.isArray(inner) ? inner.filter((element) => !isSilent(element)) : inner,
  );
}

function isSilent(item: unknown): boolean {
  if (!isRecord(item) || item["type"] !== "reasoning") return false;
  const { summary, encrypted_content: sealed } = item;
  return Array.isArray(summary) && summary.length === 0 && sealed === undefined;
}

function isDelta(event: object): boolean {
  return String(typeOf(event)).endsWith(".delta");
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
