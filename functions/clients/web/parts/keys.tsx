import { signal } from '@preact/signals';
import { signedIn } from '../session.ts';

/** Keyboard shortcuts, which are off in text fields. */

/** The window that a key opened. */
export const keyWindow = signal<'palette' | 'help' | undefined>(undefined);

export const closeKeyWindow = (): void => {
  keyWindow.value = undefined;
};

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const step = (by: number): void => {
  const links = [...document.querySelectorAll<HTMLElement>('main .list :is(a.item, .whole a.title)')].filter(
    (link) => link.offsetParent,
  );
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
};

const search = (): boolean => {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  field?.focus();
  field?.select();
  return field !== null;
};

const onKey = (event: KeyboardEvent): void => {
  if (!signedIn.peek() || event.isComposing || event.altKey) return;
  const isPalette = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'k';
  const hasDialog = document.querySelector('dialog[open]') !== null;
  if (isPalette && !hasDialog) keyWindow.value = 'palette';
  else if (isPalette && keyWindow.peek() === 'palette') closeKeyWindow();
  // Keys after Ctrl-K are meant for the palette, also while it loads.
  else if (keyWindow.peek() || hasDialog || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
  else if (event.key === '?') keyWindow.value = 'help';
  else if (event.key === 'j') step(1);
  else if (event.key === 'k') step(-1);
  else if (event.key !== '/' || !search()) return;
  event.preventDefault();
};

export const listenForKeys = (): void => addEventListener('keydown', onKey);

/** A button next to the user's name, for touch screens. */
export const PaletteButton = () => (
  <button
    type="button"
    class="quiet small-button"
    aria-label="Go to …"
    aria-keyshortcuts="Control+K Meta+K"
    title="Go to a page, a workspace or a run (Ctrl+K)"
    onClick={() => (keyWindow.value = 'palette')}
  >
    <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true" fill="none" stroke="currentColor">
      <path d="m10.2 10.2 3.6 3.6M6.8 11.6a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6Z" stroke-width="1.5" />
    </svg>
    <span class="only-wide">Go to …</span>
  </button>
);
