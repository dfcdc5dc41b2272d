import { type ReactNode, useState } from "react";

interface DisclosureProps {
  readonly summary: ReactNode;
  readonly className: string;
  /** What is made only once it is asked for. */
  readonly children: () => ReactNode;
}

/** A line that opens to show more. */
export function Disclosure({ summary, className, children }: DisclosureProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className={className} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen ? children() : null}
    </details>
  );
}
