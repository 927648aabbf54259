import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const step = 50;
/** Before the reader gets there. */
const ahead = '1500px';

/**
 * Rows of a list that may be long: the first fifty, and more of them as the reader comes near the end, so that what
 * is typed or changes meanwhile does not wait for rows that nobody sees.
 */
export const LongList = <T,>({
  of,
  choice,
  list,
  children,
}: {
  of: T[];
  /** What the reader has chosen to see; another choice begins anew. */
  choice: string;
  /** What stands around the rows. */
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
    // Seen again after each step, because it may still be in sight.
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
