import { computed, effect, signal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { repeat } from './live.ts';
import { base, go, place } from './location.ts';
import { account, call, get, related, signedIn } from './session.ts';
import { type Alert, RunAlerts, startedBy } from './text/needs.ts';

/**
 * Browser notifications when a run that the user started needs them. Off by default; once turned on, one tab of
 * each open organization polls the unfinished runs, as rarely as a hidden tab.
 */

const key = 'stepform-notifications';
const everyMs = 30_000;

/** Missing on plain http, and in browsers that only show notifications of installed apps. */
export const canNotify = (): boolean => 'Notification' in window && 'locks' in navigator && isSecureContext;

const chosen = signal(localStorage.getItem(key) === 'on');

/** The permission may have been withdrawn since. */
const permitted = signal(canNotify() && Notification.permission === 'granted');
export const notifies = computed(() => chosen.value && permitted.value && signedIn.value);

const show = (title: string, options: NotificationOptions, onClick: () => void): void => {
  const notification = new Notification(title, { icon: document.querySelector('link')?.href, ...options });
  notification.onclick = () => {
    window.focus();
    onClick();
    notification.close();
  };
};

export type TurnedOn = 'on' | 'blocked' | 'unsupported';

/** Must be called on a click, so that the browser may ask for permission. Shows a first notification as an example. */
export const turnOn = async (): Promise<TurnedOn> => {
  permitted.value = (await Notification.requestPermission()) === 'granted';
  if (!permitted.value) return 'blocked';
  try {
    show(
      'Notifications are on',
      { body: 'You are notified when a run that you started needs your decision or fails.' },
      () => {},
    );
  } catch {
    // On Android, only service workers may show notifications.
    return 'unsupported';
  }
  localStorage.setItem(key, 'on');
  chosen.value = true;
  return 'on';
};

export const turnOff = (): void => {
  localStorage.removeItem(key);
  chosen.value = false;
};

const tell = (organization: string, { run, status }: Alert, workspace: string): void => {
  const to = { view: 'run', organization, workspace, run: run.id } as const;
  const at = place.peek();
  // A visible tab needs no notification.
  if (!document.hidden && document.hasFocus() && at.view === 'run' && at.run === run.id) return;
  const body = `${run.attributes.message}\n${workspace} in ${organization}`;
  // The same tag in several tabs shows one notification.
  show(status, { body, tag: run.id }, () => go(to));
};

const watch = (organization: string, user: string): (() => void) => {
  const alerts = new RunAlerts();
  const names = new Map<string, string>();
  const readOpenRuns = async (): Promise<Resource<'runs'>[]> => {
    const path = `/organizations/${encodeURIComponent(organization)}/runs?filter[status_group]=non_final&include=workspace&page[size]=100`;
    const { data, included = [] } = await call<Resource<'runs'>[]>('GET', path);
    for (const { id, type, attributes } of included) if (type === 'workspaces') names.set(id, attributes.name);
    return startedBy(data, user);
  };
  return repeat(async () => {
    const told = await alerts.look(await readOpenRuns(), (id) => get<'runs'>(`/runs/${id}`).catch(() => undefined));
    for (const alert of told) tell(organization, alert, names.get(related(alert.run, 'workspace') ?? '') ?? '');
    return everyMs;
  }).stop;
};

const organizationHere = computed(() => ('organization' in place.value ? place.value.organization : undefined));

/** One tab at a time: when it is closed, the next one takes over. */
export const watchOwnRuns = (): void => {
  effect(() => {
    const organization = organizationHere.value;
    const user = account.value?.id;
    if (!notifies.value || organization === undefined || user === undefined) return;
    const left = new AbortController();
    navigator.locks
      .request(`stepform-notifications ${base} ${organization}`, { signal: left.signal }, async () => {
        const stop = watch(organization, user);
        await new Promise((resolve) => left.signal.addEventListener('abort', resolve));
        stop();
      })
      // The tab was closed before it took over.
      .catch(() => {});
    return () => left.abort();
  });
};
