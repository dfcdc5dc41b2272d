import { useSyncExternalStore } from "react";
import { shownLines, watchLines } from "./wire-log.ts";

/** Every event of the stream as it came, a line each. */
export function EventList() {
  const lines = useSyncExternalStore(watchLines, shownLines);
  return (
    <section aria-label="Events">
      <ol id="events">
        {lines.map((line, place) => (
          <li key={place}>{line}</li>
        ))}
      </ol>
    </section>
  );
}
