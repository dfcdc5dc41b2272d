import type { MouseEvent, ReactNode } from "react";
import { navigate, type Route, routeUrl } from "./route.ts";

interface LinkProps {
  readonly to: Route;
  readonly children: ReactNode;
  readonly className?: string;
  readonly isCurrent?: boolean;
  readonly label?: string;
}

/** A link inside the inspector. New tabs and windows work as with any link. */
export function Link({ to, children, className, isCurrent = false, label }: LinkProps) {
  const open = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a
      href={routeUrl(to)}
      className={className}
      aria-current={isCurrent ? "page" : undefined}
      aria-label={label}
      onClick={open}
    >
      {children}
    </a>
  );
}
