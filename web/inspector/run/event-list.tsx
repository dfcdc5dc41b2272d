import { memo } from "react";
import { cutText, formatMs } from "../base/format.ts";
import { hasMember, type Members, membersAt, textAt } from "../base/members.ts";
import type { LoggedEvent } from "./run-log.ts";
import { VirtualList } from "./virtual-list.tsx";

export const EVENT_ROW_HEIGHT = 28;
const PREVIEW_CHARACTERS_MAX = 120;
/** A pause as long as this is worth a look. */
const GAP_MS_SHOWN = 250;

interface EventListProps {
  readonly events: readonly LoggedEvent[];
  readonly selected: number;
  readonly isRevealed: boolean;
  readonly onSelect: (index: number) => void;
}

/** All events of a run, one a line: number, time, gap since the one before, type and what it brings. */
export function EventList({ events, selected, isRevealed, onSelect }: EventListProps) {
  return (
    <VirtualList
      label={`Events, ${events.length}`}
      id="event"
      count={events.length}
      rowHeight={EVENT_ROW_HEIGHT}
      selected={selected}
      isRevealed={isRevealed}
      onSelect={onSelect}
      row={(index) => <EventRow logged={events[index]} before={events[index - 1]} />}
    />
  );
}

const EventRow = memo(function EventRow({
  logged,
  before,
}: {
  readonly logged: LoggedEvent | undefined;
  readonly before: LoggedEvent | undefined;
}) {
  if (logged === undefined) return null;
  const { event, number, atMs } = logged;
  const gapMs = atMs === null || before?.atMs == null ? null : atMs - before.atMs;
  return (
    <>
      <span className="event-number">{number}</span>
      <span className="event-time">{formatMs(atMs)}</span>
      <span className={gapMs !== null && gapMs >= GAP_MS_SHOWN ? "event-gap is-long" : "event-gap"}>
        {gapMs === null || gapMs < 1 ? "" : `+${formatMs(gapMs)}`}
      </span>
      <span className="event-type" data-family={familyOf(event.type)}>
        {event.type.replace(/^response[.]/, "")}
      </span>
      <span className="event-preview">{cutText(previewOf(event), PREVIEW_CHARACTERS_MAX)}</span>
    </>
  );
});

/** The family decides the colour of an event's type. */
function familyOf(type: string): string {
  if (/^error$|failed$/.test(type)) return "failure";
  if (/reasoning/.test(type)) return "reasoning";
  if (/output_text|refusal|content_part|audio/.test(type)) return "text";
  if (/^response[.](created|queued|in_progress|completed|incomplete)$/.test(type)) return "lifecycle";
  return /output_item/.test(type) ? "item" : "tool";
}

function previewOf(event: Members): string {
  for (const name of ["delta", "text", "arguments", "refusal", "input", "code"])
    if (textAt(event, name) !== "") return JSON.stringify(textAt(event, name)).slice(1, -1);
  const item = membersAt(event, "item");
  if (textAt(item, "type") !== "") return [textAt(item, "type"), textAt(item, "name")].filter(Boolean).join(" ");
  if (hasMember(event, "error")) return textAt(event["error"], "message");
  if (hasMember(event, "response")) return textAt(event["response"], "status");
  return textAt(membersAt(event, "part"), "type");
}
