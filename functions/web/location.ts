import { computed, type Signal, signal, useSignal, useSignalEffect } from '@preact/signals';
import { type Place, pathOf, placeOf } from './places.ts';

/** Without a slash at the end; what stands before `/app/assets/` in the address of this script. */
export const base: string = new URL(import.meta.url).href.replace(/\/app\/assets\/[^/]*$/, '');

const basePath = new URL(`${base}/`).pathname.replace(/\/$/, '');

const here = (): string => location.pathname.slice(basePath.length) || '/';

const path = signal(here());

/** Where the reader is. */
export const place = computed<Place>(() => placeOf(path.value));

/** Address for a link. */
export const hrefOf = (to: Place): string => `${basePath}${pathOf(to)}`;

export const go = (to: Place, { replace = false } = {}): void => {
  if (replace) history.replaceState(null, '', hrefOf(to));
  else history.pushState(null, '', hrefOf(to));
  path.value = here();
  scrollTo(0, 0);
  requestAnimationFrame(enter);
};

/** Whoever hears the page goes on in the new view when what they were at is gone with the former. */
const enter = (): void => {
  if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
};

/** The address becomes another one, which the reader does not notice: back does not lead to the former. */
export const stand = (address: string): void => {
  history.replaceState(null, '', address);
  path.value = here();
};

/** What the reader has chosen to see; it stands in the address, for whoever comes back or is given it. */
export const useQuery = (name: string): Signal<string> => {
  const chosen = useSignal(new URLSearchParams(location.search).get(name) ?? '');
  useSignalEffect(() => {
    const query = new URLSearchParams(location.search);
    if (chosen.value) query.set(name, chosen.value);
    else query.delete(name);
    const search = query.size > 0 ? `?${query}` : '';
    if (search !== location.search) history.replaceState(null, '', `${location.pathname}${search}${location.hash}`);
  });
  return chosen;
};

/** Follows links to the page's own places without loading it again. */
export const followLinks = (): void => {
  addEventListener('popstate', () => {
    path.value = here();
  });
  addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.hash && link.pathname === location.pathname) return;
    if (!`${link.pathname}/`.startsWith(`${basePath}/`)) return;
    const to = placeOf(link.pathname.slice(basePath.length));
    if (to.view === 'nowhere') return;
    event.preventDefault();
    go(to);
  });
};
