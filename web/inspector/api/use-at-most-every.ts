import { useEffect, useRef, useState } from "react";

/** The value, which changes at most every `intervalMs` milliseconds and always to the newest one. */
export function useAtMostEvery<Value>(value: Value, intervalMs: number): Value {
  const [shown, setShown] = useState(value);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (shown === value) return undefined;
    const waitMs = Math.max(0, changedAt.current + intervalMs - performance.now());
    const timer = setTimeout(() => {
      changedAt.current = performance.now();
      setShown(value);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [value, shown, intervalMs]);
  return shown;
}
