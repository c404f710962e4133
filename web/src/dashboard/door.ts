// Asks for the tokens of machines, one after the other, in a dialog. They are kept by who asked.
import {byId, setText} from "./elements";

interface Waiting {
  machine: string;
  reason: string;
  canWait: boolean;
  isPutOff: boolean;
  resolve: (token: string) => void;
}

export class Door {
  private waiting: Waiting[] = [];
  private shown: Waiting | null = null;

  constructor() {
    const door = byId<HTMLDialogElement>("door");
    // Dialogs are closed with Escape: only where the page goes on without a token.
    door.addEventListener("cancel", (event) => {
      event.preventDefault();
      if (this.shown?.canWait) this.putOff();
    });
    // A browser may close it for the second Escape.
    door.addEventListener("close", () => {
      if (this.shown && !door.open) door.showModal();
    });
    byId("door-later").addEventListener("click", () => this.putOff());
    byId("door-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.take();
    });
  }

  /// The token of a machine. `canWait`: the page goes on without it.
  ask(machine: string, canWait: boolean, reason: string): Promise<string> {
    return new Promise((resolve) => {
      this.waiting.push({machine, reason, canWait, isPutOff: false, resolve});
      this.showNext();
    });
  }

  /// The user wants to enter it now.
  open(machine: string): void {
    for (const each of this.waiting) if (each.machine === machine) each.isPutOff = false;
    this.showNext();
  }

  private showNext(): void {
    const door = byId<HTMLDialogElement>("door");
    if (this.shown) return;
    const next = this.waiting.find(({isPutOff}) => !isPutOff);
    if (!next) return;
    this.shown = next;
    setText(byId("door-title"), next.canWait ? `${next.machine} needs a token` : "This daemon needs a token");
    setText(byId("door-why"), next.reason);
    byId("door-later").hidden = !next.canWait;
    byId<HTMLInputElement>("token").value = "";
    if (!door.open) door.showModal();
  }

  private take(): void {
    const input = byId<HTMLInputElement>("token");
    const token = input.value.trim();
    input.value = "";
    if (!/^[\x21-\x7e]+$/.test(token)) return setText(byId("door-why"), "This is not a token.");
    const {shown} = this;
    this.waiting = this.waiting.filter((each) => each !== shown);
    this.close();
    shown?.resolve(token);
  }

  private putOff(): void {
    if (this.shown) this.shown.isPutOff = true;
    this.close();
  }

  private close(): void {
    this.shown = null;
    byId<HTMLDialogElement>("door").close();
    this.showNext();
  }
}
