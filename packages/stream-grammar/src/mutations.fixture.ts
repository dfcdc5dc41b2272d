import type { RuleName } from "./rules.ts";
import type { SampleEvent } from "./sample-streams.fixture.ts";

/** A stream that is no longer legal after one change. */
export interface Mutation {
  readonly title: string;
  readonly events: readonly SampleEvent[];
  /** The first fault is at this event or a later one. */
  readonly at: number;
  /** The first fault breaks one of these rules. */
  readonly rules: readonly RuleName[];
}

/**
 * Mutations of a legal stream: each event dropped, doubled or exchanged with the next, and the rest renumbered; and
 * each event with a wrong number, id, index or text, or a missing member. Of a run of equal types only the first and
 * last are changed. Mutations that stay legal are left out.
 */
export function mutationsOf(events: readonly SampleEvent[]): readonly Mutation[] {
  const places = events.flatMap((event, at) =>
    event.type !== events[at - 1]?.type || event.type !== events[at + 1]?.type ? [at] : [],
  );
  return places.flatMap((at) => [
    ...dropped(events, at),
    ...doubled(events, at),
    ...exchanged(events, at),
    ...altered(events, at),
  ]);
}

const ENDING = /^response[.](completed|incomplete|failed)$/;
const LIFECYCLE = /^(error|response[.](created|queued|in_progress))$/;
const IS_DELTA = /[.]delta$/;
const SOUND_DELTA = /^response[.]audio[.](transcript[.])?delta$/;

function dropped(events: readonly SampleEvent[], at: number): Mutation[] {
  const event = eventAt(events, at);
  const isLast = !events.slice(at + 1).some(({ type }) => type === event.type);
  if (event["delta"] === "" || SOUND_DELTA.test(event.type) || OPTIONAL.has(event.type)) return [];
  if (isFailureWhileQueued(events, at)) return [];
  if (event.type === "response.mcp_call.in_progress" && isRepeated(events, at)) return [];
  if (event.type.endsWith(".partial_image") && isLast) return [];
  return [
    {
      title: `${event.type} ${at} dropped`,
      events: renumbered(events.toSpliced(at, 1)),
      at,
      rules: rulesOfDropped(event),
    },
  ];
}

/** A background response may fail or be cancelled before it is in progress. */
function isFailureWhileQueued(events: readonly SampleEvent[], at: number): boolean {
  const before = events[at - 1];
  const { type } = eventAt(events, at);
  const next = events[at + 1];
  return (
    type === "response.in_progress" &&
    before?.type === "response.queued" &&
    (next?.type === "error" || next?.type === "response.failed")
  );
}

/** After an approval, the reference sends this event twice. */
function isRepeated(events: readonly SampleEvent[], at: number): boolean {
  const { type, item_id: id } = eventAt(events, at);
  return events.filter((event) => event.type === type && event["item_id"] === id).length > 1;
}

/** Events that the grammar makes optional. */
const OPTIONAL: ReadonlySet<string> = new Set([
  "keepalive",
  "response.custom_tool_call_input.done",
  "response.compaction.compacting",
]);

function rulesOfDropped({ type }: SampleEvent): readonly RuleName[] {
  if (ENDING.test(type)) return ["one-ending"];
  if (LIFECYCLE.test(type)) return ["stream-order"];
  if (type === "response.output_item.added") return ["output-index"];
  if (type === "response.output_item.done") return ["one-item-at-a-time", "item-ends"];
  // An annotation cannot come before the first delta.
  if (type === "response.output_text.delta") return ["deltas-add-up", "item-order"];
  if (IS_DELTA.test(type)) return ["deltas-add-up"];
  if (type.endsWith(".annotation.added")) return ["annotation-index", "done-part"];
  if (type.endsWith(".partial_image")) return ["partial-image-index"];
  return type.startsWith("response.audio.") ? ["sound-order"] : ["item-order"];
}

function doubled(events: readonly SampleEvent[], at: number): Mutation[] {
  const event = eventAt(events, at);
  if (event["delta"] === "" || SOUND_DELTA.test(event.type) || event.type === "keepalive") return [];
  return [
    {
      title: `${event.type} ${at} doubled`,
      events: renumbered(events.toSpliced(at, 0, event)),
      at: at + 1,
      rules: rulesOfDoubled(event),
    },
  ];
}

function rulesOfDoubled({ type }: SampleEvent): readonly RuleName[] {
  if (ENDING.test(type)) return ["one-ending"];
  if (LIFECYCLE.test(type)) return ["stream-order"];
  if (type === "response.output_item.added") return ["output-index"];
  if (IS_DELTA.test(type)) return ["deltas-add-up"];
  if (type.endsWith(".annotation.added")) return ["annotation-index"];
  if (type.endsWith(".partial_image")) return ["partial-image-index"];
  if (type === "response.shell_call_output_content.done") return ["command-index"];
  return type.startsWith("response.audio.") ? ["sound-order"] : ["item-order"];
}

function exchanged(events: readonly SampleEvent[], at: number): Mutation[] {
  const one = eventAt(events, at);
  const other = events[at + 1];
  if (other === undefined || mayBeExchanged(one, other)) return [];
  const swapped = renumbered(events.toSpliced(at, 2, other, one));
  return [{ title: `${one.type} ${at} after ${other.type}`, events: swapped, at, rules: rulesOfExchanged(one, other) }];
}

function mayBeExchanged(one: SampleEvent, other: SampleEvent): boolean {
  const sounds = [one, other].filter(({ type }) => type.startsWith("response.audio."));
  if (sounds.length === 1 && !LIFECYCLE.test(one.type) && !LIFECYCLE.test(other.type) && !ENDING.test(other.type))
    return true;
  if (sounds.length === 2) return SOUND_DELTA.test(one.type) && SOUND_DELTA.test(other.type);
  if (isDeltaOrAnnotation(one) && isDeltaOrAnnotation(other) && one.type !== other.type) return true;
  const first = JSON.stringify(one["delta"]);
  const second = JSON.stringify(other["delta"]);
  return (
    one.type === other.type &&
    IS_DELTA.test(one.type) &&
    commutes(String(one["delta"]), String(other["delta"]), first === second)
  );
}

function commutes(one: string, other: string, isSame: boolean): boolean {
  return isSame || one + other === other + one;
}

function isDeltaOrAnnotation({ type }: SampleEvent): boolean {
  return type === "response.output_text.delta" || type === "response.output_text.annotation.added";
}

function rulesOfExchanged(one: SampleEvent, other: SampleEvent): readonly RuleName[] {
  if (ENDING.test(other.type)) return LIFECYCLE.test(one.type) ? ["stream-order"] : ["item-ends", "sound-order"];
  if (LIFECYCLE.test(one.type) || LIFECYCLE.test(other.type)) return ["stream-order"];
  if (IS_DELTA.test(one.type) && one.type.replace(IS_DELTA, "") === other.type.replace(/[.](delta|done)$/, ""))
    return ["deltas-add-up"];
  if (one.type === other.type && one.type.endsWith(".annotation.added")) return ["annotation-index"];
  if (one.type.endsWith(".partial_image") && one.type === other.type) return ["partial-image-index"];
  if (one.type.startsWith("response.audio.")) return ["sound-order"];
  if (one.type === "response.output_item.added") return ["output-index"];
  return other.type === "response.output_item.added" ? ["one-item-at-a-time"] : ["item-order"];
}

function altered(events: readonly SampleEvent[], at: number): Mutation[] {
  const event = eventAt(events, at);
  const changed = (title: string, members: object, ...rules: readonly RuleName[]): Mutation => ({
    title: `${event.type} ${at} with ${title}`,
    events: events.with(at, { ...event, ...members }),
    at,
    rules,
  });
  const has = (member: string): boolean => Object.hasOwn(event, member);
  const mutations = [
    changed("a wrong number", { sequence_number: at + 7 }, "sequence-number"),
    changed("a number as text", { sequence_number: String(at) }, "sequence-number"),
    changed("an unknown type", { type: "response.whatever" }, "known-type"),
    changed("a wrong place", { output_index: 99 }, "output-index"),
    changed("a wrong item_id", { item_id: "msg_wrong" }, "item-id"),
    changed("an empty item_id", { item_id: "" }, "event-members"),
    changed("an error", { error: null }, "error-member"),
    ...INDEXES.map(([member, rule]) => changed(`a wrong ${member}`, { [member]: Number(event[member]) + 1 }, rule)),
    changed("another delta", { delta: `${String(event["delta"])}!` }, "deltas-add-up"),
    ...WHOLES.map((member) =>
      changed(`another ${member}`, { [member]: `${String(event[member])}!` }, "deltas-add-up", "added-empty"),
    ),
    changed("another response", { response: { ...Object(event["response"]), id: "resp_wrong" } }, "response-id"),
    changed("another item", { item: { ...Object(event["item"]), id: "msg_wrong" } }, "item-id", "output-index"),
    changed("no item", { item: null }, "event-members"),
    changed(
      "another part",
      { part: { ...Object(event["part"]), text: "wrong", refusal: "wrong" } },
      "added-empty",
      "done-part",
    ),
  ];
  return mutations.filter(({ events: all }) => isRelevant(event, eventAt(all, at), has));
}

const INDEXES = [
  ["content_index", "content-index"],
  ["summary_index", "summary-index"],
  ["command_index", "command-index"],
  ["annotation_index", "annotation-index"],
  ["partial_image_index", "partial-image-index"],
] as const;
const WHOLES = ["text", "refusal", "arguments", "input", "code", "diff", "command"] as const;

/** Whether a mutation changes a member that the event has and that a rule is about. */
function isRelevant(before: SampleEvent, after: SampleEvent, has: (member: string) => boolean): boolean {
  const members = Object.keys(after).filter((member) => after[member] !== before[member]);
  if (members.includes("error")) return before.type !== "error";
  if (members.includes("delta") && (typeof before["delta"] !== "string" || SOUND_DELTA.test(before.type))) return false;
  return members.every(has);
}

function eventAt(events: readonly SampleEvent[], at: number): SampleEvent {
  const event = events[at];
  if (event === undefined) throw new Error(`there is no event ${at}`);
  return event;
}

function renumbered(events: readonly SampleEvent[]): SampleEvent[] {
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}
