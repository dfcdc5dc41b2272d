import { type RefObject, useEffect, useState } from "react";

interface TypedFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  readonly list?: string;
  readonly field?: RefObject<HTMLInputElement | null>;
}

/** The server's limit on the words to search for. */
const TEXT_CHARACTERS_MAX = 200;
/** A field tells its value this long after its last letter. */
const TYPING_MS = 300;

/** A field that tells its value once nobody has typed for a moment. */
export function TypedField({ label, value, onValue, placeholder, list, field }: TypedFieldProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(onValue, TYPING_MS, typed);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      list={list}
      maxLength={TEXT_CHARACTERS_MAX}
      autoComplete="off"
      spellCheck={false}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}
