import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { hash } from '../location.ts';

/** Parts of a view with a heading. */

interface SectionProps {
  title: string;
  /** Accessible name. */
  label?: string;
  /** Beside the title. */
  action?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

export const Section = ({ title, label = title, action, class: look = 'stack', children }: SectionProps) => (
  <section class={look} aria-label={label}>
    {action ? (
      <div class="row spread">
        <h2>{title}</h2>
        {action}
      </div>
    ) : (
      <h2>{title}</h2>
    )}
    {children}
  </section>
);

export const Panel = (props: Omit<SectionProps, 'class'>) => <Section {...props} class="panel pad stack" />;

interface CountedProps {
  title: string;
  /** Beside the title. */
  count: number;
  children: ComponentChildren;
}

/** A section with the number of its entries. */
export const Counted = ({ title, count, children }: CountedProps) => (
  <section class="stack">
    <h2>
      {title} {count > 0 && <span class="soft">{count}</span>}
    </h2>
    {children}
  </section>
);

interface EmptyProps {
  title: string;
  children?: ComponentChildren;
}

/** Shown instead of content that does not exist yet. */
export const Empty = ({ title, children }: EmptyProps) => (
  <section class="panel empty">
    <h2>{title}</h2>
    {children}
  </section>
);

interface FoldProps {
  /** Fragment that opens it, and scrolls to it. */
  id?: string;
  title: string;
  /** After the title. */
  status?: ComponentChildren;
  /** At the right. */
  summary?: ComponentChildren;
  /** Unless the user has chosen. */
  open?: boolean;
  /** What the user has chosen, if the view changes that. */
  chosen?: { value: boolean | undefined };
  /** False: stays folded. */
  unfolds?: boolean;
  /** Rendered only while it is open. */
  children(): ComponentChildren;
}

/** A panel that unfolds. */
export const Fold = ({ id, title, status, summary, open = false, chosen, unfolds = true, children }: FoldProps) => {
  const own = useSignal<boolean | undefined>(undefined);
  const choice = chosen ?? own;
  const isOpen = unfolds && (choice.value ?? open);
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!id || hash.value.text !== `#${id}`) return;
    choice.value = true;
    element.current?.scrollIntoView({ block: 'start' });
  }, [hash.value]);
  return (
    <details
      id={id}
      ref={element}
      class="panel"
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open !== isOpen) choice.value = event.currentTarget.open;
      }}
    >
      <summary>
        <h2>{title}</h2>
        <span class="soft small">{status}</span>
        <span class="grow" />
        {summary}
      </summary>
      {isOpen && children()}
    </details>
  );
};

/** Details that are rendered once they are unfolded. */
export const Unfold = ({
  summary,
  children,
  ...rest
}: {
  summary: string;
  class?: string;
  children(): ComponentChildren;
}) => {
  const open = useSignal(false);
  return (
    <details {...rest} onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open.value && children()}
    </details>
  );
};
