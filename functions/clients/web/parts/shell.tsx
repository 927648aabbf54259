import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Place } from '#clients/client/page-addresses.ts';
import type { Tone } from '#run/display.ts';
import { trouble } from '../live.ts';
import { hrefOf } from '../location.ts';
import { account, signedIn, signOut } from '../session.ts';
import { showTone } from '../tab-icon.ts';
import { Banner } from './banner.tsx';
import { HelpLink } from './help-link.tsx';
import { PaletteButton } from './keys.tsx';
import { NotificationsButton } from './notifications-button.tsx';
import { ThemeButton } from './theme.tsx';

export interface Crumb {
  text: string;
  to?: Place;
}

export const Mark = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="#4a3fd4" />
    <path
      d="M6 24h7v-5.5h6.5V13H26V8"
      fill="none"
      stroke="#fff"
      stroke-width="3.2"
      stroke-linejoin="round"
      stroke-linecap="round"
    />
  </svg>
);

const Face = () => (
  <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true" fill="none" stroke="currentColor">
    <path d="M8 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14c.6-2.4 2.6-3.8 5.5-3.8s4.9 1.4 5.5 3.8" stroke-width="1.4" />
  </svg>
);

interface ShellProps {
  /** Title of the tab; absent: unchanged. */
  title?: string;
  /** Tone of the shown run's status, for the tab's icon. */
  tone?: Tone;
  crumbs: Crumb[];
  children: ComponentChildren;
}

/** Frame of every view. */
export const Shell = ({ title, tone, crumbs, children }: ShellProps) => {
  useEffect(() => {
    if (title !== undefined) document.title = title ? `${title} · stepform` : 'stepform';
  }, [title]);
  useEffect(() => {
    showTone(tone);
    return () => showTone(undefined);
  }, [tone]);
  return (
    <>
      <a class="button skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <div>
          <a class="brand" href={hrefOf({ view: 'home' })} aria-label="stepform, all organizations">
            <Mark />
            <span>stepform</span>
          </a>
          <nav aria-label="You are here" class="grow">
            <ol class="crumbs">
              {crumbs.map(({ text, to }) => (
                <li key={text} title={text}>
                  {to ? <a href={hrefOf(to)}>{text}</a> : <span aria-current="page">{text}</span>}
                </li>
              ))}
            </ol>
          </nav>
          {signedIn.value && <PaletteButton />}
          {signedIn.value && <NotificationsButton />}
          <span class={signedIn.value ? 'only-wide' : undefined}>
            <HelpLink />
            <ThemeButton />
          </span>
          {signedIn.value && (
            <>
              <a class="button quiet small-button" href={hrefOf({ view: 'tokens' })} title="Your account">
                <span class="only-wide">{account.value?.attributes.username ?? 'Account'}</span>
                <span class="only-narrow">
                  <span class="visually-hidden">Your account</span>
                  <Face />
                </span>
              </a>
              <button type="button" class="quiet small-button" onClick={() => signOut()}>
                Sign out
              </button>
            </>
          )}
        </div>
      </header>
      {trouble.value && (
        <p class="offline" role="status">
          {trouble} This page may be out of date. Retrying …
        </p>
      )}
      <main id="content" tabIndex={-1}>
        {signedIn.value && <Banner />}
        {children}
      </main>
    </>
  );
};
