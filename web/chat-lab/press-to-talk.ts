/** A shorter press toggles the microphone; a longer one keeps it on while it is held. */
const HOLD_MS = 400;
const TALK_KEY = "F2";

export interface Talk {
  isOn(): boolean;
  start(): void;
  stop(): void;
}

/** Handles all presses alike: touch, mouse, Space or Enter on the button, and F2 anywhere on the page. */
export function listenForPresses(button: HTMLButtonElement, talk: Talk): void {
  let pressedAt: number | null = null;

  const press = ({ timeStamp }: Event): void => {
    if (button.disabled || pressedAt !== null) return;
    if (talk.isOn()) return talk.stop();
    pressedAt = timeStamp; // The time of the press itself, so that a busy page does not make it longer.
    talk.start();
  };
  const release = ({ timeStamp }: Event): void => {
    const isHeld = pressedAt !== null && timeStamp - pressedAt >= HOLD_MS;
    pressedAt = null;
    if (isHeld) talk.stop();
  };

  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    press(event);
  });
  for (const name of ["pointerup", "pointercancel"] as const) button.addEventListener(name, release);
  button.addEventListener("click", (event) => {
    if (event.detail !== 0) return; // A pointer click, which pointerdown has handled.
    if (talk.isOn()) talk.stop();
    else talk.start();
  });
  document.addEventListener("keydown", (event) => {
    if (!isTalkKey(event, button)) return;
    event.preventDefault();
    if (!event.repeat) press(event);
  });
  document.addEventListener("keyup", (event) => {
    if (!isTalkKey(event, button)) return;
    event.preventDefault();
    release(event);
  });
  window.addEventListener("blur", release);
}

function isTalkKey({ key, target }: KeyboardEvent, button: HTMLButtonElement): boolean {
  return key === TALK_KEY || (target === button && (key === " " || key === "Enter"));
}
