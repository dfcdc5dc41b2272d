import { formatMs } from "../base/format.ts";
import { Icon } from "../shell/icons.tsx";
import { type Player, SPEEDS } from "./player.ts";

interface PlayerBarProps {
  readonly player: Player;
  readonly count: number;
  readonly atMs: number | null;
  readonly isLive: boolean;
}

/** Plays a run as it happened, pauses it, and moves to any event. */
export function PlayerBar({ player, count, atMs, isLive }: PlayerBarProps) {
  const { position, isPlaying, isFollowing } = player;
  return (
    <div className="player" role="group" aria-label="Replay">
      <button
        type="button"
        className="icon-button"
        aria-label="To the start"
        title="To the start"
        onClick={() => player.seek(-1)}
      >
        <Icon name="start" />
      </button>
      <button
        type="button"
        className="icon-button main"
        aria-label={isPlaying ? "Pause" : isLive && isFollowing ? "Pause" : "Play"}
        title="Play or pause (Space)"
        onClick={() => (isPlaying || (isLive && isFollowing) ? player.pause() : player.play())}
      >
        <Icon name={isPlaying || (isLive && isFollowing) ? "pause" : "play"} />
      </button>
      <input
        className="scrub"
        type="range"
        min={-1}
        max={Math.max(0, count - 1)}
        value={position}
        aria-label="Event that is shown"
        aria-valuetext={`Event ${position + 1} of ${count}, ${formatMs(atMs)}`}
        onChange={({ target }) => player.seek(target.valueAsNumber)}
      />
      <output className="player-time">
        {formatMs(atMs)} · {position + 1}/{count}
      </output>
      <Pace player={player} />
      {isLive && !isFollowing ? (
        <button type="button" onClick={player.follow}>
          Go to live
        </button>
      ) : null}
    </div>
  );
}

function Pace({ player }: { readonly player: Player }) {
  return (
    <>
      <label className="speed">
        <span className="unseen">Speed of the replay</span>
        <select value={player.speed} onChange={({ target }) => player.setSpeed(Number(target.value))}>
          {SPEEDS.map((value) => (
            <option key={value} value={value}>
              {value}×
            </option>
          ))}
        </select>
      </label>
      <label className="switch" title="Play long pauses as one second">
        <input
          type="checkbox"
          checked={player.isShortened}
          onChange={({ target }) => player.setShortened(target.checked)}
        />
        Skip pauses
      </label>
    </>
  );
}
