import { useMemo } from "react";
import type { Response } from "../../../packages/client/src/index.ts";
import { formatMs } from "../base/format.ts";
import { textAt } from "../base/members.ts";
import { foldEvents, type ShownItem } from "../items/fold-events.ts";
import { ItemCard } from "../items/item-card.tsx";
import { Json } from "../items/json.tsx";
import { ResponseAudio } from "../items/response-audio.tsx";
import { Disclosure } from "../shell/disclosure.tsx";
import { Icon } from "../shell/icons.tsx";
import { navigate } from "../shell/route.ts";
import { useKey } from "../shell/shortcuts.tsx";
import { EventList } from "./event-list.tsx";
import { Lanes } from "./lanes.tsx";
import { usePlayer } from "./player.ts";
import { PlayerBar } from "./player-bar.tsx";
import type { LoggedEvent } from "./run-log.ts";
import { itemDurationsMs } from "./run-times.ts";
import type { Run } from "./use-run.ts";

interface OverviewTabProps {
  readonly run: Run;
  readonly response: Response;
  readonly input: readonly ShownItem[];
  readonly output: readonly ShownItem[];
}

const AUDIO = /^response[.](output_)?audio[.]delta$/;

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
  const isSpoken = useMemo(() => events.some(({ event }) => AUDIO.test(event.type)), [events]);
  const isRunning = response.status === "queued" || response.status === "in_progress";
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
        <Items input={input} output={shown} events={events} onFork={fork} />
        {isSpoken && !log.isAttached ? <ResponseAudio id={response.id} /> : null}
        {input.length + shown.length === 0 ? <p className="empty">No items yet.</p> : null}
      </section>
      <section className="card events" aria-label="Events">
        <h2>Events</h2>
        {log.error === null ? null : <p className="trouble">{log.error}</p>}
        {events.length === 0 && !log.isAttached ? (
          <p className="empty">The server has no events of this run.</p>
        ) : (
          <EventList
            events={events}
            selected={position}
            isRevealed={isRunning || !player.isFollowing}
            onSelect={player.seek}
          />
        )}
        {current === undefined ? null : (
          <Disclosure className="event-detail" summary={`Event ${current.number} as it was sent`}>
            {() => <Json value={current.event} label={`Event ${current.number}`} />}
          </Disclosure>
        )}
      </section>
    </div>
  );
}

interface ItemsProps {
  readonly input: readonly ShownItem[];
  readonly output: readonly ShownItem[];
  readonly events: readonly LoggedEvent[];
  readonly onFork: (id: unknown) => void;
}

function Items({ input, output, events, onFork }: ItemsProps) {
  const durations = useMemo(() => itemDurationsMs(events), [events]);
  return (
    <>
      {input.map((item, index) => (
        <ItemCard key={`input-${index}`} item={item} isInput actions={<ForkHere onFork={() => onFork(item["id"])} />} />
      ))}
      {output.map((item, index) => (
        <ItemCard
          key={`output-${index}`}
          item={item}
          aside={<ItemTime ms={durations.get(textAt(item, "id")) ?? null} />}
          actions={<ForkHere onFork={() => onFork(item["id"])} />}
        />
      ))}
    </>
  );
}

function ItemTime({ ms }: { readonly ms: number | null }) {
  return ms === null || ms === 0 ? null : <span className="hint">{formatMs(ms)}</span>;
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
