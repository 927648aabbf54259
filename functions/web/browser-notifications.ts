import { computed, effect, signal } from '@preact/signals';
import type { Resource } from '../client/client.ts';
import { repeat } from './live.ts';
import { base, go, place } from './location.ts';
import { account, call, get, related, signedIn } from './session.ts';
import { type Alert, RunAlerts, startedBy } from './text/needs.ts';

/**
 * Notifications of the browser when a run that the reader started needs them. Off until they turn it on; then one tab of
 * each organization that is open asks for the open runs, as seldom as it does for a hidden tab.
 */

const key = 'stepform-notifications';
const everyMs = 30_000;

/** Not on plain http, nor in browsers that show those of installed pages only. */
export const canNotify = (): boolean => 'Notification' in window && 'locks' in navigator && isSecureContext;

const chosen = signal(localStorage.getItem(key) === 'on');

/** It may have been withdrawn since. */
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

/** To be called on a click: the browser asks then. Shows one, so that people see what they get. */
export const turnOn = async (): Promise<TurnedOn> => {
  permitted.value = (await Notification.requestPermission()) === 'granted';
  if (!permitted.value) return 'blocked';
  try {
    show('Notifications are on', { body: 'You are told when a run that you started needs you.' }, () => {});
  } catch {
    // Android takes them from service workers only.
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
  // Whoever looks at it sees it.
  if (!document.hidden && document.hasFocus() && at.view === 'run' && at.run === run.id) return;
  const body = `${run.attributes.message}\n${workspace} in ${organization}`;
  // One of several tabs' replaces those of the others.
  show(status, { body, tag: run.id }, () => go(to));
};

const watch = (organization: string, user: string): (() => void) => {
  const alerts = new RunAlerts();
  const names = new Map<string, string>();
  const read = async (): Promise<Resource<'runs'>[]> => {
    const path = `/organizations/${encodeURIComponent(organization)}/runs?filter[status_group]=non_final&include=workspace&page[size]=100`;
    const { data, included = [] } = await call<Resource<'runs'>[]>('GET', path);
    for (const { id, type, attributes } of included) if (type === 'workspaces') names.set(id, attributes.name);
    return startedBy(data, user);
  };
  return repeat(async () => {
    const told = await alerts.look(await read(), (id) => get<'runs'>(`/runs/${id}`).catch(() => undefined));
    for (const alert of told) tell(organization, alert, names.get(related(alert.run, 'workspace') ?? '') ?? '');
    return everyMs;
  }).stop;
};

const organizationHere = computed(() => ('organization' in place.value ? place.value.organization : undefined));

/** One tab at a time: the next goes on when it is closed. */
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
      // Its turn never came.
      .catch(() => {});
    return () => left.abort();
  });
};
