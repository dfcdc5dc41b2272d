import { type FormEvent, useState } from "react";
import { clientWith } from "../api/session.ts";
import { sentenceOf } from "../api/use-call.ts";
import { Brand } from "./brand.tsx";

/** Asks for a key, and tries it before it is kept. */
export function SignIn({ onKey }: { readonly onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  const [trouble, setTrouble] = useState("");
  const [isTrying, setIsTrying] = useState(false);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setIsTrying(true);
    setTrouble("");
    clientWith(key.trim())
      .listModels({ retriesMax: 0 })
      .then(
        () => onKey(key.trim()),
        (error: unknown) => {
          setTrouble(sentenceOf(error));
          setIsTrying(false);
        },
      );
  };
  return (
    <main className="sign-in">
      <form className="card" onSubmit={send}>
        <Brand />
        <h1>Inspector</h1>
        <p className="hint">See every run of this server event by event, and try its models.</p>
        <label className="field">
          <span>API key</span>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            required
            value={key}
            aria-describedby="key-hint"
            onChange={({ target }) => setKey(target.value)}
          />
        </label>
        <p id="key-hint" className="hint">
          The server wrote its first key to <code>api-key</code> in its data folder. The key stays in this tab and is
          forgotten when you close it. You see what the key&rsquo;s owner may see.
        </p>
        <button className="main" type="submit" disabled={isTrying || key.trim() === ""}>
          {isTrying ? "Trying the key…" : "Open the inspector"}
        </button>
        <p className="trouble" role="alert">
          {trouble}
        </p>
      </form>
    </main>
  );
}
