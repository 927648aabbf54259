import { type Signal, signal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { base, enter, place } from './location.ts';
import { Notice, Skeleton } from './parts/basics.tsx';
import { Shell } from './parts/shell.tsx';

/** Loads views on first use, in groups of views that people open in a row. */

/** True when the platform serves another version than this one, whose scripts have other names. */
const isOutdated = async (): Promise<boolean> => {
  const name = document.querySelector<HTMLScriptElement>('script[type=module]')?.src.split('/').at(-1) ?? '';
  const response = await fetch(`${base}/app`, { cache: 'no-store' });
  return response.ok && !(await response.text()).includes(name);
};

/** Browsers remember a failed import; only a new document retries it. */
const Missing = () => (
  <Notice kind="bad">
    <strong>Can’t load this page.</strong>
    <p>Check your connection, then load the page again.</p>
    <button type="button" onClick={() => location.reload()}>
      Load again
    </button>
  </Notice>
);

const Waiting = ({ failed }: { failed: boolean }) => {
  const at = place.value;
  const crumbs = 'organization' in at ? [{ text: at.organization }] : [];
  return <Shell crumbs={crumbs}>{failed ? <Missing /> : <Skeleton what="page" />}</Shell>;
};

const added = new Set<string>();

/** Adds the style of a lazily loaded part, which is bundled with its script to save a request. */
export const addStyle = (text: string): void => {
  if (added.has(text)) return;
  added.add(text);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets.push(sheet);
};

/** Shown while a part of a view loads. */
export const WaitingPart = ({ failed }: { failed: boolean }) => (failed ? <Missing /> : null);

/**
 * A view that `load` imports; shows its frame meanwhile. After an update of the platform the scripts of an open
 * page are gone, so the page is reloaded.
 */
export const lazily = <Group, Props extends object>(
  load: () => Promise<Group>,
  viewOf: (group: Group) => ComponentType<Props>,
  Meanwhile: ComponentType<{ failed: boolean }> = Waiting,
): ((props: Props) => JSX.Element) => {
  const loaded: Signal<ComponentType<Props> | undefined> = signal(undefined);
  const failed = signal(false);
  const start = async () => {
    try {
      const view = viewOf(await load());
      // The frame that had the focus is replaced by the view.
      const wasEntered = document.activeElement?.id === 'content';
      loaded.value = view;
      if (wasEntered) requestAnimationFrame(enter);
    } catch {
      if (await isOutdated().catch(() => false)) location.reload();
      else failed.value = true;
    }
  };
  return (props) => {
    const View = loaded.value;
    useEffect(() => {
      if (!loaded.peek()) void start();
    }, []);
    return View ? <View {...props} /> : <Meanwhile failed={failed.value} />;
  };
};
