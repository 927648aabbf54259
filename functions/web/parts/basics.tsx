import { computed, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { clock, type Live } from '../live.ts';
import { ago, duration, exact } from '../text/time.ts';

/** The small things that every view is made of. */

/** A text of its own, which changes without anything around it: lists have hundreds. */
export const Ago = ({ at }: { at: string }) => {
  const text = useMemo(() => computed(() => ago(at, clock.value)), [at]);
  return (
    <time class="nowrap" dateTime={at} title={exact(at)}>
      {text}
    </time>
  );
};

/** How long something took, or has taken so far. */
export const Took = ({ from, to }: { from: string; to?: string }) => (
  <>{duration((to ? Date.parse(to) : clock.value) - Date.parse(from))}</>
);

export type NoticeKind = 'info' | 'good' | 'warn' | 'bad';

/** What went wrong is said aloud at once. */
export const Notice = ({ kind = 'info', children }: { kind?: NoticeKind; children: ComponentChildren }) => (
  <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
    {children}
  </div>
);

/** The value once it is there; until then that it is coming, or why not. */
export const Loaded = <T,>({
  live,
  what,
  children,
}: {
  live: Live<T>;
  what: string;
  children(value: T): ComponentChildren;
}) => {
  if (live.value !== undefined) return <>{children(live.value)}</>;
  if (live.error === undefined) {
    return (
      <p class="soft" role="status">
        Loading {what} …
      </p>
    );
  }
  return (
    <Notice kind="bad">
      <strong>
        {live.status === 404 ? `There is no such ${what}, or you may not see it.` : `The ${what} could not be loaded.`}
      </strong>
      {live.status !== 404 && <p>{live.error}</p>}
    </Notice>
  );
};

export const Copy = ({ text, label = 'Copy' }: { text: { toString(): string }; label?: string }) => {
  const done = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text.toString());
    done.value = true;
    setTimeout(() => {
      done.value = false;
    }, 2_000);
  };
  return (
    <button type="button" class="small-button" onClick={copy}>
      <span aria-live="polite">{done.value ? 'Copied' : label}</span>
    </button>
  );
};

export const Code = ({ text, label }: { text: string; label: string }) => (
  <div class="code">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it too */}
    <section tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
    <Copy text={text} />
  </div>
);

export const Facts = ({ facts }: { facts: [string, ComponentChildren][] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
);
