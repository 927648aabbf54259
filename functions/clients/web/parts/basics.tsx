import { computed, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { ago, duration, exactTime } from '#clients/client/text/time.ts';
import { visible } from '#platform/text/visible.ts';
import { clock, type Live, useLive } from '../live.ts';
import { hrefOf, place } from '../location.ts';
import { get } from '../session.ts';
import { capitalized } from '../text/lists.ts';

/** Small components that every view uses. */

/** A component of its own, so that a tick renders only this text: lists have hundreds. */
export const Ago = ({ at }: { at: string }) => {
  const text = useMemo(() => computed(() => ago(at, clock.value)), [at]);
  return (
    <time class="nowrap" dateTime={at} title={exactTime(at)}>
      {text}
    </time>
  );
};

/** A duration, or the elapsed time so far. */
export const Duration = ({ from, to }: { from: string; to?: string }) => (
  <>{duration((to ? Date.parse(to) : clock.value) - Date.parse(from))}</>
);

export type NoticeKind = 'info' | 'good' | 'warn' | 'bad';

/** Screen readers announce errors at once. */
export const Notice = ({ kind = 'info', children }: { kind?: NoticeKind; children: ComponentChildren }) => (
  <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
    {children}
  </div>
);

/** Reserves the space of the loading content, so that the layout does not shift. */
export const Skeleton = ({ what }: { what: string }) => (
  <div class="skeleton" role="status">
    <span class="visually-hidden">Loading {what} …</span>
    <i />
    <i />
    <i />
    <i />
    <i />
  </div>
);

const NotFound = () => {
  const at = place.value;
  const organization = 'organization' in at ? at.organization : undefined;
  return (
    <Notice kind="bad">
      It does not exist, or you don’t have access.{' '}
      {organization !== undefined && <WorkspacesOf key={organization} organization={organization} />}
      <a href={hrefOf({ view: 'home' })}>See your organizations</a>.
    </Notice>
  );
};

/** Empty if the user may not see the organization, or while that is unknown. */
const WorkspacesOf = ({ organization }: { organization: string }) => {
  const path = `/organizations/${encodeURIComponent(organization)}`;
  const { value } = useLive(path, () => get<'organizations'>(path));
  if (!value) return null;
  return (
    <>
      <a href={hrefOf({ view: 'workspaces', organization })}>See the workspaces of {organization}</a>.{' '}
    </>
  );
};

/** A heading of the page stands above. */
export const Headed = createContext(false);

interface LoadedProps<T> {
  live: Live<T>;
  what: string;
  children(value: T): ComponentChildren;
}

/** Shows a value once it is loaded; until then a placeholder or the error. */
export const Loaded = <T,>({ live, what, children }: LoadedProps<T>) => {
  const Heading = useContext(Headed) ? 'h2' : 'h1';
  if (live.value !== undefined) return <Headed.Provider value>{children(live.value)}</Headed.Provider>;
  if (live.error === undefined) return <Skeleton what={what} />;
  if (live.status === 404) {
    return (
      <>
        <Heading>{capitalized(what)} not found</Heading>
        <NotFound />
      </>
    );
  }
  return (
    <Notice kind={live.status === 403 ? 'warn' : 'bad'}>
      <strong>Can’t load {what}.</strong>
      <p>
        {live.error}
        {live.status === 403 && ' Ask an owner of the organization for it.'}
      </p>
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
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard */}
    <section tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
    <Copy text={text} />
  </div>
);

/** Length that roughly fits the box without scrolling. */
const shortText = 300;
const fewLines = 8;

/** A value of any length; long ones can be scrolled by keyboard. */
export const Value = ({ text }: { text: string | null }) => {
  const scrolls = text !== null && (text.length > shortText || text.split('\n').length > fewLines);
  return (
    <pre class="value" tabIndex={scrolls ? 0 : undefined}>
      {visible(text ?? '')}
    </pre>
  );
};

export type Fact = readonly [name: ComponentChildren, value: ComponentChildren] | false | null | undefined | '';

/** Names with values; `false` and the like are left out. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) =>
  facts.some(Boolean) ? (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </>
          ),
      )}
    </dl>
  ) : null;
