import { useEffect, useRef } from 'preact/hooks';
import type { Place } from '../../client/page-addresses.ts';
import { hrefOf } from '../location.ts';

/** Keeps the current one of a row of links in sight: on a phone, they do not all fit. @param at changes with it */
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

/** The views of one thing. */
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
