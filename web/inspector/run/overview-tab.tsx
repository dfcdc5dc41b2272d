import { useMemo } from "react";
import type { Response } from "../../../src/client/index.ts";
import { formatMs } from "../base/format.ts";
import { foldEvents, type ShownItem } from "../items/fold-events.ts";
import { ItemCard } from "../items/item-card.tsx";
import { Json } from "../items/json.tsx";
import { Disclosure } from "../shell/disclosure.tsx";
import { Icon } from "../shell/icons.tsx";
import { navigate } from "../shell/route.ts";
import { useKey } from "../shell/shortcuts.tsx";
import { EventList } from "./event-list.tsx";
import { Lanes } from "./lanes.tsx";
import { usePlayer } from "./player.ts";
import { PlayerBar } from "./player-bar.tsx";
import type { Run } from "./use-run.ts";

interface OverviewTabProps {
  readonly run: Run;
  readonly response: Response;
  readonly input: readonly ShownItem[];
  readonly output: readonly ShownItem[];
}

/** The course of a run, its items as they are at a moment, and its events. */
export function OverviewTab({ run: { log }, response, input, output }: OverviewTabProps) {
  const { events } = log;
  const player = usePlayer(events);
  const { position } = player;
  const isAtEnd = position === events.length - 1;
  const shown = useMemo(
    () => (isAtEnd && !log.isAttached ? output : foldEvents(events, position + 1)),
    [isAtEnd, log.isAttached, output, events, position],
  );
  const current = events[position];
  useKey(["ArrowLeft", "ArrowRight"], ({ key }) => player.seek(position + (key === "ArrowLeft" ? -1 : 1)));
  useKey([" "], (event) => {
    if (event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    if (player.isPlaying) player.pause();
    else player.play();
  });
  const fork = (id: unknown): void =>
    navigate({ page: "playground", from: response.id, item: typeof id === "string" ? id : null });
  return (
    <div className="overview">
      <section className="card course" aria-label="Timeline">
        <PlayerBar player={player} count={events.length} atMs={current?.atMs ?? null} isLive={log.isAttached} />
        <Lanes events={events} position={position} onSeek={player.seek} />
      </section>
      <section className="items" aria-label="Items">
        <h2>{isAtEnd ? "Items" : `Items after ${formatMs(current?.atMs ?? 0)}`}</h2>
        {input.map((item, index) => (
          <ItemCard key={`input-${index}`} item={item} isInput actions={<ForkHere onFork={() => fork(item["id"])} />} />
        ))}
        {shown.map((item, index) => (
          <ItemCard key={`output-${index}`} item={item} actions={<ForkHere onFork={() => fork(item["id"])} />} />
        ))}
        {input.length + shown.length === 0 ? <p className="empty">No items yet.</p> : null}
      </section>
      <section className="card events" aria-label="Events">
        <h2>Events</h2>
        {log.error === null ? null : <p className="trouble">{log.error}</p>}
        <EventList events={events} selected={position} onSelect={player.seek} />
        {current === undefined ? null : (
          <Disclosure className="event-detail" summary={`Event ${current.number} as it was sent`}>
            {() => <Json value={current.event} label={`Event ${current.number}`} />}
          </Disclosure>
        )}
      </section>
    </div>
  );
}

function ForkHere({ onFork }: { readonly onFork: () => void }) {
  return (
    <button
      type="button"
      className="quiet icon-button"
      aria-label="Fork after this item"
      title="Fork after this item"
      onClick={onFork}
    >
      <Icon name="fork" />
    </button>
  );
}
