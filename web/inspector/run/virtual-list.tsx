import { type KeyboardEvent, type ReactNode, type UIEvent, useEffect, useRef, useState } from "react";

interface VirtualListProps {
  readonly label: string;
  readonly id: string;
  readonly count: number;
  readonly rowHeight: number;
  readonly selected: number;
  /** Whether the list is scrolled to the selected row. */
  readonly isRevealed: boolean;
  readonly onSelect: (index: number) => void;
  readonly row: (index: number) => ReactNode;
}

/** Rows above and below the visible ones that are drawn too. */
const MARGIN_ROWS = 4;

/**
 * A list of rows of one height, of which only the visible ones are drawn. Arrow keys, Page up and down, Home and End
 * choose a row.
 */
export function VirtualList({ label, id, count, rowHeight, selected, isRevealed, onSelect, row }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [rows, setRows] = useState(20);

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setRows(Math.ceil(element.clientHeight / rowHeight)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [rowHeight]);

  useEffect(() => {
    if (box.current !== null && isRevealed) reveal(box.current, selected, rowHeight);
  }, [selected, isRevealed, rowHeight]);

  const scroll = ({ currentTarget }: UIEvent<HTMLDivElement>): void =>
    setFirst(Math.floor(currentTarget.scrollTop / rowHeight));
  const choose = (event: KeyboardEvent): void => {
    const target = targetOf(event.key, { selected, count, page: Math.max(1, rows - 1) });
    if (target === null) return;
    event.preventDefault();
    onSelect(target);
  };

  const from = Math.max(0, first - MARGIN_ROWS);
  const to = Math.min(count, first + rows + MARGIN_ROWS);
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  const pool = rows + 2 * MARGIN_ROWS;
  const isDrawn = selected >= from && selected < to;
  return (
    <div
      ref={box}
      className="virtual"
      role="listbox"
      aria-label={label}
      aria-activedescendant={isDrawn ? `${id}-${selected}` : undefined}
      tabIndex={0}
      onScroll={scroll}
      onKeyDown={choose}
    >
      <div className="virtual-space" role="presentation" style={{ height: count * rowHeight }}>
        {shown.map((index) => (
          <div
            key={index % pool} // A row that leaves becomes one that comes, which costs less than a new one.
            id={`${id}-${index}`}
            className="virtual-row"
            role="option"
            aria-selected={index === selected}
            aria-posinset={index + 1}
            aria-setsize={count}
            style={{ transform: `translateY(${index * rowHeight}px)`, height: rowHeight }}
            onClick={() => onSelect(index)}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

function reveal(box: HTMLElement, index: number, rowHeight: number): void {
  const top = index * rowHeight;
  if (index < 0) return;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight;
}

function targetOf(
  key: string,
  { selected, count, page }: { selected: number; count: number; page: number },
): number | null {
  const last = count - 1;
  const within = (index: number): number => Math.max(0, Math.min(last, index));
  switch (key) {
    case "ArrowDown":
      return within(selected + 1);
    case "ArrowUp":
      return within(selected - 1);
    case "PageDown":
      return within(selected + page);
    case "PageUp":
      return within(selected - page);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}
