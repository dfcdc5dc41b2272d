import { StrictMode, type SubmitEvent, useState } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";
import { readServer, type Server, writeServer } from "./server.ts";

/** Asks for the server once, and keeps it for this tab only. */
function App() {
  const [server, setServer] = useState(readServer);
  if (server !== null) return <Chat server={server} />;
  return (
    <ServerForm
      onChosen={(chosen) => {
        writeServer(chosen);
        setServer(chosen);
      }}
    />
  );
}

function ServerForm({ onChosen }: { readonly onChosen: (server: Server) => void }) {
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => {
      const value = form.get(name);
      return typeof value === "string" ? value : "";
    };
    onChosen({ baseUrl: text("baseUrl"), apiKey: text("apiKey"), model: text("model") });
  };
  return (
    <main>
      <h1>Choose a server</h1>
      <form onSubmit={submit}>
        <label>
          Base URL
          <input name="baseUrl" type="url" defaultValue="http://127.0.0.1:8080/v1" required />
        </label>
        <label>
          Key
          <input name="apiKey" type="password" autoComplete="off" required />
        </label>
        <label>
          Model
          <input name="model" defaultValue="antiphon-built-in" required />
        </label>
        <button type="submit">Chat</button>
      </form>
    </main>
  );
}

const root = document.querySelector("#root");
if (root === null) throw new Error("The page has no root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
