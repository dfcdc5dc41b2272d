import { chat } from "./server.js";

/** A chat through the server's provider. `elements` are the log, the form, its text and its buttons; `takeText` gives what was dictated. */
export function setUpChat({ log, form, text, send, take, clear }, takeText, showTrouble) {
  let messages = [];

  const show = (role, content) => {
    const item = document.createElement("li");
    item.className = role;
    const said = document.createElement("span");
    said.textContent = content;
    const who = document.createElement("strong");
    who.textContent = role === "user" ? "You: " : "Answer: ";
    item.append(who, said);
    log.append(item);
    return said;
  };

  const ask = async (content) => {
    messages.push({ role: "user", content });
    show("user", content);
    const said = show("assistant", "");
    send.disabled = true;
    try {
      for await (const piece of chat(messages)) said.textContent += piece;
      messages.push({ role: "assistant", content: said.textContent });
    } catch (error) {
      messages.pop(); // So that it can be asked again.
      if (said.textContent === "") said.parentElement.remove();
      showTrouble(error.message);
    } finally {
      send.disabled = false;
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const content = text.value.trim();
    if (content === "" || send.disabled) return;
    text.value = "";
    showTrouble("");
    void ask(content);
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  take.addEventListener("click", () => {
    text.value = takeText();
    text.focus();
  });
  clear.addEventListener("click", () => {
    messages = [];
    log.replaceChildren();
  });
}
