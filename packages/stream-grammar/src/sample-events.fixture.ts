export type SampleEvent = Readonly<Record<string, unknown>> & { readonly type: string };

export type Members = Readonly<Record<string, unknown>>;
/** An event about an item's contents, without `response.`, item id and output index. */
export type Inner = readonly [name: string, members?: Members];

export interface SampleItem {
  readonly id: string;
  readonly added: Members;
  readonly inner: readonly Inner[];
  readonly done: Members;
}

/** Makes an item. Its id consists of its type and the `id` of `added`. */
export function item(type: string, added: Members, inner: readonly Inner[] = [], done: Members = {}): SampleItem {
  const number = typeof added["id"] === "number" ? added["id"] : 1;
  const id = `${type}_${number}`;
  const whole = { ...added, id, type };
  return { id, added: whole, inner, done: { ...whole, ...done } };
}

interface Frame {
  readonly background?: boolean;
  readonly end?: "completed" | "incomplete" | "failed" | "cancelled";
  readonly sound?: boolean;
}

/** A whole stream with numbered events. */
export function stream(
  items: readonly SampleItem[],
  { background = false, end = "completed", sound = false }: Frame = {},
): SampleEvent[] {
  const response = (status: string, output: readonly Members[] = []): Members => ({
    response: {
      id: "resp_1",
      object: "response",
      status,
      output,
      usage: status === "completed" ? { total_tokens: 2 } : null,
    },
  });
  const begun: Inner[] = background
    ? [
        ["created", response("queued")],
        ["queued", response("queued")],
        ["in_progress", response("in_progress")],
      ]
    : [
        ["created", response("in_progress")],
        ["in_progress", response("in_progress")],
      ];
  const ended: Inner = [
    end === "cancelled" ? "failed" : end,
    response(
      end,
      items.map(({ done }) => done),
    ),
  ];
  const error = { type: "server_error", code: "server_error", message: "Broke.", param: null };
  return numbered([
    ...begun,
    ...items.flatMap(eventsOfItem),
    ...(sound ? SOUND : []),
    ...(end === "failed" ? [["error", { error }] as const] : []),
    ended,
  ]);
}

const SOUND: readonly Inner[] = [
  ["audio.delta", { delta: "AA==" }],
  ["audio.transcript.delta", { delta: "Hi" }],
  ["audio.done"],
  ["audio.transcript.done"],
];

function eventsOfItem({ id, added, inner, done }: SampleItem, index: number): Inner[] {
  const place = { output_index: index };
  return [
    ["output_item.added", { ...place, item: added }],
    ...inner.map(
      ([name, members]): Inner => [
        name,
        { ...place, ...(name.startsWith("shell_call_command.") ? {} : { item_id: id }), ...members },
      ],
    ),
    ["output_item.done", { ...place, item: done }],
  ];
}

function numbered(events: readonly Inner[]): SampleEvent[] {
  return events.map(([name, members], index) => ({
    type: name === "error" ? name : `response.${name}`,
    sequence_number: index,
    ...members,
  }));
}
