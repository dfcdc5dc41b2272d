/** The element of the page with this id. Throws a `TypeError` if it does not exist or is of another kind. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.querySelector(`#${id}`);
  if (element instanceof kind) return element;
  throw new TypeError(`The page has no ${kind.name} called ${id}.`);
}

/** Sets the text only if it changes, so that screen readers do not repeat it. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Submits the form on Control and Enter, or Command and Enter, in the text; `isSendKey` may choose other keys. */
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
