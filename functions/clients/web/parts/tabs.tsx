import { useEffect, useRef } from 'preact/hooks';
import type { Place } from '#clients/client/page-addresses.ts';
import { hrefOf } from '../location.ts';

/** Scrolls the current tab into view: on a phone, not all tabs fit. @param at changes with the current tab */
export const useCurrentInSight = (at: unknown) => {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const show = () =>
      row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    show();
    addEventListener('resize', show);
    return () => removeEventListener('resize', show);
  }, [at]);
  return row;
};

/** Tabs of an item. */
export const Tabs = ({ label, tabs }: { label: string; tabs: { text: string; to: Place; current: boolean }[] }) => {
  const row = useCurrentInSight(tabs.findIndex(({ current }) => current));
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {tabs.map(({ text, to, current }) => (
        <a key={text} href={hrefOf(to)} aria-current={current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
};
