/** The sign of Antiphon: one voice, and the one that answers. */
export function Brand() {
  return (
    <span className="brand">
      <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
        <path className="brand-call" d="M4 8.5c3-4 5 4 8 0s5 4 8 0" />
        <path className="brand-answer" d="M4 15.5c3-4 5 4 8 0s5 4 8 0" />
      </svg>
      Antiphon
    </span>
  );
}
