import type { ComponentChildren } from 'preact';
import type { Tone } from '#run/display.ts';
import type { Live } from '../live.ts';
import { Loaded } from './basics.tsx';
import { type Crumb, Shell } from './shell.tsx';

interface PageProps<T> {
  /** Title of the tab. */
  title: string;
  tone?: Tone | undefined;
  organization: string;
  /** After the organization. */
  crumbs: Crumb[];
  live: Live<T>;
  what: string;
  children(loaded: T): ComponentChildren;
}

/** Frame of a single item's view, which is shown once it is loaded. */
export const Page = <T,>({ title, tone, organization, crumbs, live, what, children }: PageProps<T>) => (
  <Shell title={title} tone={tone} crumbs={[{ text: organization, to: { view: 'overview', organization } }, ...crumbs]}>
    {live.value === undefined && live.error !== undefined && live.status !== 404 && <h1>{title}</h1>}
    <Loaded live={live} what={what}>
      {children}
    </Loaded>
  </Shell>
);
