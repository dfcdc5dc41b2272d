import { type ReactNode, useState } from "react";

interface DisclosureProps {
  readonly summary: ReactNode;
  readonly className: string;
  readonly isOpenAtFirst?: boolean;
  /** What is made only once it is asked for. */
  readonly children: () => ReactNode;
}

/** A line that opens to show more. */
export function Disclosure({ summary, className, isOpenAtFirst = false, children }: DisclosureProps) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  return (
    <details className={className} open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen ? children() : null}
    </details>
  );
}
