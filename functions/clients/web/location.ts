import { computed, type Signal, signal, useSignal, useSignalEffect } from '@preact/signals';
import { type Place, pathOf, placeOf } from '#clients/client/page-addresses.ts';

/** Base path without a final slash: the part before `/app/assets/` in this script's URL. */
export const base: string = new URL(import.meta.url).href.replace(/\/app\/assets\/[^/]*$/, '');

const basePath = new URL(`${base}/`).pathname.replace(/\/$/, '');

const currentPath = (): string => location.pathname.slice(basePath.length) || '/';

const path = signal(currentPath());

/** `#plan-12` aims at a line of a log. A new object on every click, so that the same line can be aimed at again. */
export const hash = signal({ text: location.hash });

/** Changes the fragment, and scrolls to that part of the view. */
export const setHash = (part: string): void => {
  history.replaceState(history.state, '', `#${part}`);
  hash.value = { text: `#${part}` };
};

/** The current place. */
export const place = computed<Place>(() => placeOf(path.value));

/** URL for a link. */
export const hrefOf = (to: Place): string => `${basePath}${pathOf(to)}`;

/** Saves the scroll position with each history entry. */
let returning = false;
const keepPlace = (): void => {
  if (!returning) history.replaceState({ y: scrollY }, '');
};

const maxReturnMs = 5_000;

/** Restores the scroll position once the view is tall enough: lists load, and grow as they are scrolled. */
const returnTo = (y: number): void => {
  const until = Date.now() + maxReturnMs;
  const from = path.peek();
  returning = true;
  const stop = () => {
    returning = false;
  };
  const signs = ['wheel', 'touchstart', 'pointerdown', 'keydown'];
  for (const sign of signs) addEventListener(sign, stop, { once: true, passive: true, capture: true });
  const step = () => {
    if (!returning || path.peek() !== from) return;
    scrollTo(0, y);
    if (Math.abs(scrollY - y) > 1 && Date.now() < until) requestAnimationFrame(step);
    else stop();
  };
  requestAnimationFrame(step);
};

/** @param part of the view to scroll to: `#change-aws_vpc.main` */
export const go = (to: Place, { replace = false, part = '' } = {}): void => {
  returning = false;
  keepPlace();
  const address = hrefOf(to) + part;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  path.value = currentPath();
  hash.value = { text: part };
  scrollTo(0, 0);
  requestAnimationFrame(enter);
};

/** Moves the focus into the new view when the focused element is gone, for screen readers. */
export const enter = (): void => {
  if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
};

/** Replaces the address without a new history entry. */
export const replaceAddress = (address: string): void => {
  history.replaceState(null, '', address);
  path.value = currentPath();
};

/** Filters of a view, kept in the address so that they survive a reload and can be shared. */
export const useQuery = (name: string, initial = ''): Signal<string> => {
  const chosen = useSignal(new URLSearchParams(location.search).get(name) ?? initial);
  useSignalEffect(() => {
    const query = new URLSearchParams(location.search);
    if (chosen.value !== initial) query.set(name, chosen.value);
    else query.delete(name);
    const search = query.size > 0 ? `?${query}` : '';
    if (search !== location.search) {
      history.replaceState(history.state, '', `${location.pathname}${search}${location.hash}`);
    }
  });
  return chosen;
};

/** Follows links within the page without reloading it. */
export const followLinks = (): void => {
  history.scrollRestoration = 'manual';
  addEventListener('scrollend', keepPlace, { passive: true });
  const back = () => returnTo((history.state as { y?: number } | null)?.y ?? 0);
  if (history.state) back();
  addEventListener('popstate', () => {
    const from = path.peek();
    path.value = currentPath();
    if (path.peek() !== from) back();
  });
  addEventListener('hashchange', () => {
    hash.value = { text: location.hash };
  });
  addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.hash && link.pathname === location.pathname) {
      // The browser reports no change then.
      if (link.hash === location.hash) hash.value = { text: link.hash };
      return;
    }
    if (!`${link.pathname}/`.startsWith(`${basePath}/`)) return;
    const to = placeOf(link.pathname.slice(basePath.length));
    if (to.view === 'nowhere') return;
    event.preventDefault();
    go(to, { part: link.hash });
  });
};
