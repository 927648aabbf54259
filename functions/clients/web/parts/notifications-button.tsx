import { signal } from '@preact/signals';
import type { Place } from '#clients/client/page-addresses.ts';
import { canNotify, notifies, type TurnedOn, turnOff, turnOn } from '../browser-notifications.ts';
import { place } from '../location.ts';
import { Notice } from './basics.tsx';
import { Dialog } from './dialog.tsx';

const problems: Partial<Record<TurnedOn, string>> = {
  blocked:
    'Your browser blocks notifications from this site. Allow them in its settings for this site, then try again.',
  unsupported: 'This browser shows notifications from installed apps only. Use a browser on a computer.',
};

const Bell = () => (
  <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true" fill="none" stroke="currentColor">
    <path
      d="M8 2a4 4 0 0 0-4 4c0 3-1.2 4.3-1.7 5h11.4C13.2 10.3 12 9 12 6a4 4 0 0 0-4-4ZM6.7 13.3a1.4 1.4 0 0 0 2.6 0"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
    {notifies.value && <circle cx="12.3" cy="3.4" r="2.6" fill="currentColor" stroke="none" />}
  </svg>
);

/**
 * Shared by all buttons: a loaded view brings another button, and the dialog stays open until the user leaves the view.
 */
const openAt = signal<Place | undefined>(undefined);
const problem = signal<string | undefined>(undefined);

/** The browser asks for permission only when notifications are turned on here. */
export const NotificationsButton = () => {
  if (!canNotify()) return null;
  const close = () => {
    openAt.value = undefined;
    problem.value = undefined;
  };
  const open = () => {
    problem.value = undefined;
    openAt.value = place.peek();
  };
  const toggle = async () => {
    if (notifies.peek()) return turnOff();
    problem.value = problems[await turnOn()];
  };
  const state = notifies.value ? 'on' : 'off';
  return (
    <>
      <button
        type="button"
        class="quiet small-button"
        aria-label={`Browser notifications: ${state}`}
        title={`Browser notifications: ${state}`}
        onClick={open}
      >
        <Bell />
      </button>
      {openAt.value === place.value && (
        <Dialog title="Browser notifications" onClose={close}>
          <p>
            Get a notification when a run that you started needs your decision, or when it fails. A tab of the
            organization has to be open.
          </p>
          <p role="status">
            Notifications are <strong>{state}</strong> in this browser.
          </p>
          {problem.value && <Notice kind="bad">{problem.value}</Notice>}
          <div class="row ends">
            <button type="button" onClick={close}>
              Close
            </button>
            <button type="button" class={notifies.value ? '' : 'primary'} onClick={toggle}>
              {notifies.value ? 'Turn off' : 'Turn on'}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
};
