import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const step = 50;
/** Loads more rows this far ahead. */
const ahead = '1500px';

/**
 * Rows of a possibly long list: the first fifty, and more when the user scrolls near the end, so that typing
 * and updates do not wait for invisible rows.
 */
export const LongList = <T,>({
  of,
  choice,
  list,
  children,
}: {
  of: T[];
  /** Identifies the current filters; a change starts over. */
  choice: string;
  /** Element around the rows. */
  list(rows: VNode[]): ComponentChildren;
  children(one: T): VNode;
}) => {
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
        <button
          type="button"
          ref={end}
          class="quiet"
          onClick={() => {
            grown.value = { choice, most: of.length };
          }}
        >
          Show all {of.length.toLocaleString('en')}
        </button>
      )}
    </>
  );
};
