/** Outlines in a square of 24, drawn with the colour of the text around them. */
const OUTLINES = {
  back: "M15 5l-7 7 7 7",
  braces:
    "M9 4H8a2 2 0 0 0-2 2v4a2 2 0 0 1-2 2 2 2 0 0 1 2 2v4a2 2 0 0 0 2 2h1M15 4h1a2 2 0 0 1 2 2v4a2 2 0 0 0 2 2 2 2 0 0 0-2 2v4a2 2 0 0 1-2 2h-1",
  check: "M5 13l4 4L19 7",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v11H9zM5 15V4h10",
  down: "M6 9l6 6 6-6",
  export: "M12 15V4M8 8l4-4 4 4M5 14v5h14v-5",
  file: "M7 3h7l4 4v14H7zM14 3v5h4",
  fork: "M7 4v16M7 12h6a4 4 0 0 0 4-4V4",
  key: "M14 10a4 4 0 1 0-3 4l2 2h2v2h2v2h3v-3l-6-6z",
  keyboard: "M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8",
  microphone: "M12 4a2.5 2.5 0 0 0-2.5 2.5v5a2.5 2.5 0 0 0 5 0v-5A2.5 2.5 0 0 0 12 4ZM6 11.5a6 6 0 0 0 12 0M12 17.5V21",
  pause: "M8 5v14M16 5v14",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9h.01",
  play: "M7 4.5l12 7.5-12 7.5z",
  plus: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM16 16l5 5",
  send: "M12 19V5M6 11l6-6 6 6",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 4.5v5M8 14.5v5",
  speaker: "M4 9v6h4l5 4V5L8 9zM16.5 8.5a5 5 0 0 1 0 7M19 6a8.5 8.5 0 0 1 0 12",
  start: "M6 5v14M19 5l-9 7 9 7z",
  stop: "M7 7h10v10H7z",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  tool: "M14.5 6.5a4 4 0 0 0-5.4 5L4 16.6 7.4 20l5.1-5.1a4 4 0 0 0 5-5.4L15 12l-3-3z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
} as const;

export type IconName = keyof typeof OUTLINES;

/** A picture beside a label. It says nothing to screen readers. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
      <path d={OUTLINES[name]} />
    </svg>
  );
}
