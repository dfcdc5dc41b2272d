/** The element of the page with this id. Throws where there is none, or one of another kind. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.querySelector(`#${id}`);
  if (element instanceof kind) return element;
  throw new TypeError(`The page has no ${kind.name} called ${id}.`);
}

/** Writes a text only where it is another one, so that it is not read out twice. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** `Control` and `Enter`, or `Command` and `Enter`, in a text send its form. */
export function sendByKeys(text: HTMLElement, form: HTMLFormElement, isSendKey = withControl): void {
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !isSendKey(event)) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

function withControl({ ctrlKey, metaKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey;
}
