/** What a team would build on the AI SDK, and beside it what a page without any library shows of the same bytes. */

import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";
import { EventList } from "./event-list.tsx";

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");
const asked = new URLSearchParams(location.search);
const settings = { model: asked.get("model") ?? "", hasTool: asked.has("tool"), isStateless: asked.has("stateless") };
createRoot(root).render(
  <>
    <Chat settings={settings} />
    <EventList />
  </>,
);
