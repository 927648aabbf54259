import { computed, type Signal, signal, useSignal, useSignalEffect } from '@preact/signals';
import { type Place, pathOf, placeOf } from '../client/page-addresses.ts';

/** Without a slash at the end; what stands before `/app/assets/` in the address of this script. */
export const base: string = new URL(import.meta.url).href.replace(/\/app\/assets\/[^/]*$/, '');

const basePath = new URL(`${base}/`).pathname.replace(/\/$/, '');

const here = (): string => location.pathname.slice(basePath.length) || '/';

const path = signal(here());

/** `#plan-12` aims at a line of a log. Another object each time that it is aimed, at the same line too. */
export const hash = signal({ text: location.hash });

/** The address becomes that of a part of this view, which comes into sight. */
export const setHash = (part: string): void => {
  history.replaceState(history.state, '', `#${part}`);
  hash.value = { text: `#${part}` };
};

/** Where the reader is. */
export const place = computed<Place>(() => placeOf(path.value));

/** Address for a link. */
export const hrefOf = (to: Place): string => `${basePath}${pathOf(to)}`;

/** How far down the reader was stands with each entry of the history. */
let returning = false;
const keepPlace = (): void => {
  if (!returning) history.replaceState({ y: scrollY }, '');
};

const maxReturnMs = 5_000;

/** Lists come with their answer, and grow as they are scrolled: until then there is nowhere to go back to. */
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

/** @param part of the view that comes into sight: `#change-aws_vpc.main` */
export const go = (to: Place, { replace = false, part = '' } = {}): void => {
  returning = false;
  keepPlace();
  const address = hrefOf(to) + part;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  path.value = here();
  hash.value = { text: part };
  scrollTo(0, 0);
  requestAnimationFrame(enter);
};

/** Whoever hears the page goes on in the new view when what they were at is gone with the former. */
export const enter = (): void => {
  if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
};

/** The address becomes another one, which the reader does not notice: back does not lead to the former. */
export const replaceAddress = (address: string): void => {
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
    if (search !== location.search) {
      history.replaceState(history.state, '', `${location.pathname}${search}${location.hash}`);
    }
  });
  return chosen;
};

/** Follows links to the page's own places without loading it again. */
export const followLinks = (): void => {
  history.scrollRestoration = 'manual';
  addEventListener('scrollend', keepPlace, { passive: true });
  const back = () => returnTo((history.state as { y?: number } | null)?.y ?? 0);
  if (history.state) back();
  addEventListener('popstate', () => {
    const from = path.peek();
    path.value = here();
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
    if (link.hash && link.pathname === location.pathname) return;
    if (!`${link.pathname}/`.startsWith(`${basePath}/`)) return;
    const to = placeOf(link.pathname.slice(basePath.length));
    if (to.view === 'nowhere') return;
    event.preventDefault();
    go(to, { part: link.hash });
  });
};
