import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Place } from '#clients/client/page-addresses.ts';
import type { Live } from '../live.ts';
import { hrefOf } from '../location.ts';
import { capitalized } from '../text/lists.ts';
import { Loaded } from './basics.tsx';

/** Lists and tables, and how people move in them. */

interface ListProps<T> {
  label: string;
  of: readonly T[];
  /** Shown instead of an empty list. */
  none?: ComponentChildren;
  /** Within a panel. */
  plain?: boolean;
  children(entry: T): VNode;
}

export const List = <T,>({ label, of, none, plain, children }: ListProps<T>) =>
  of.length === 0 && none !== undefined ? (
    <p class={plain ? 'soft' : 'panel pad soft'}>{none}</p>
  ) : (
    <ul class={plain ? 'list' : 'panel list'} aria-label={label}>
      {of.map(children)}
    </ul>
  );

interface LiveListProps<T> extends Omit<ListProps<T>, 'label' | 'of'> {
  live: Live<T[]>;
  /** `run tasks` */
  what: string;
}

/** A list that is shown once it is loaded. */
export const LiveList = <T,>({ live, what, ...list }: LiveListProps<T>) => (
  <Loaded live={live} what={what}>
    {(of) => <List {...list} label={capitalized(what)} of={of} />}
  </Loaded>
);

/** Short labels beside a title; `false` and the like are left out. */
export const Tags = ({ of }: { of: readonly unknown[] }) => (
  <>
    {of.filter(Boolean).map((text) => (
      <span key={text} class="tag" title={String(text)}>
        {text as string}
      </span>
    ))}
  </>
);

/** The whole text is shown on hover where it is cut. */
const Title = ({ text }: { text: ComponentChildren }) => (
  <span class="title" title={String(text)}>
    {text}
  </span>
);

interface ItemProps {
  /** The entry's view. */
  to?: Place;
  title: ComponentChildren;
  /** Labels beside the title. */
  tags?: readonly unknown[];
  /** More beside the title, such as a status. */
  beside?: ComponentChildren;
  meta?: ComponentChildren;
  /** At the right. */
  end?: ComponentChildren;
  /** At the right, in smaller text. */
  notes?: readonly ComponentChildren[];
  /** Actions. */
  children?: ComponentChildren;
}

/** An entry of a list. */
export const Item = ({ to, title, tags = [], beside, meta, end, notes = [], children }: ItemProps) => {
  const actions = children && <span class="row">{children}</span>;
  const parts = (
    <>
      <span class="row">
        {typeof title === 'object' ? title : <Title text={title} />}
        <Tags of={tags} />
        {beside}
      </span>
      <span class="meta break">{meta}</span>
      <span class="end">
        {end}
        {notes.map((note, i) => (
          <span key={i} class="meta">
            {note}
          </span>
        ))}
        {!to && actions}
      </span>
    </>
  );
  if (!to) return <li class="item">{parts}</li>;
  return (
    <li class={actions ? 'acted' : undefined}>
      <a class="item" href={hrefOf(to)}>
        {parts}
      </a>
      {actions}
    </li>
  );
};

interface LineProps {
  title: ComponentChildren;
  /** Below the title. */
  about?: ComponentChildren;
  /** Actions. */
  children?: ComponentChildren;
}

/** An entry of a short list within a panel. */
export const Line = ({ title, about, children }: LineProps) => (
  <li class="row spread">
    <div class="grow break">
      {title}
      {about && <div class="soft small">{about}</div>}
    </div>
    {children && <div class="row">{children}</div>}
  </li>
);

const step = 50;
/** Loads more rows this far ahead. */
const ahead = '1500px';

interface LongListProps<T> {
  of: T[];
  /** Identifies the current filters; a change starts over. */
  choice: string;
  /** Element around the rows. */
  list(rows: VNode[]): ComponentChildren;
  children(one: T): VNode;
}

/**
 * Rows of a possibly long list: the first fifty, and more when the user scrolls near the end, so that typing
 * and updates do not wait for invisible rows.
 */
export const LongList = <T,>({ of, choice, list, children }: LongListProps<T>) => {
  const grown = useSignal({ choice, most: step });
  const shownCount = grown.value.choice === choice ? grown.value.most : step;
  const end = useRef<HTMLButtonElement>(null);
  const more = of.length > shownCount;
  useEffect(() => {
    if (!end.current) return;
    const watch = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) grown.value = { choice, most: shownCount + step };
      },
      { rootMargin: ahead },
    );
    watch.observe(end.current);
    return () => watch.disconnect();
    // Observe again after each step, because the end may still be visible.
  }, [more, shownCount, choice, grown]);
  return (
    <>
      {list(of.slice(0, shownCount).map(children))}
      {more && (
        <button type="button" ref={end} class="quiet" onClick={() => (grown.value = { choice, most: of.length })}>
          Show all {of.length.toLocaleString('en')}
        </button>
      )}
    </>
  );
};

interface PagerProps {
  page: Signal<number>;
  /** The current page is the last one. */
  last: boolean;
  words?: readonly [back: string, forth: string];
  children: ComponentChildren;
}

/** Steps through the pages of a list; nothing if there is only one. */
export const Pager = ({ page, last, words: [back, forth] = ['Newer', 'Older'], children }: PagerProps) =>
  page.value === 1 && last ? null : (
    <nav class="row" aria-label="Pages">
      <button type="button" disabled={page.value === 1} onClick={() => page.value--}>
        {back}
      </button>
      <span class="soft small">{children}</span>
      <button type="button" disabled={last} onClick={() => page.value++}>
        {forth}
      </button>
    </nav>
  );

interface TableProps {
  /** Headings; the last one is hidden if it names buttons: `{ hidden: 'Copy' }` */
  heads: readonly (string | { hidden: string })[];
  class?: string;
  caption?: string;
  /** The rows. */
  children: ComponentChildren;
}

export const Table = ({ heads, class: look, caption, children }: TableProps) => (
  <table class={look}>
    {caption && <caption class="soft small">{caption}</caption>}
    <thead>
      <tr>
        {heads.map((head, i) => (
          <th key={i} scope="col">
            {typeof head === 'string' ? head : <span class="visually-hidden">{head.hidden}</span>}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);
