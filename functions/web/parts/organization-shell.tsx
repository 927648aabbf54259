import type { ComponentChildren } from 'preact';
import { hrefOf } from '../location.ts';
import { Shell } from './shell.tsx';

const sections = [
  ['workspaces', 'Workspaces'],
  ['queue', 'Runs'],
  ['variable-sets', 'Variable sets'],
] as const;

/** The views of an organization. */
export const OrganizationShell = ({
  organization,
  at,
  children,
}: {
  organization: string;
  at: 'workspaces' | 'queue' | 'variable-sets';
  children: ComponentChildren;
}) => (
  <Shell title={organization} crumbs={[{ text: organization }]}>
    <nav class="tabs" aria-label="Organization">
      {sections.map(([view, name]) => (
        <a key={view} href={hrefOf({ view, organization })} aria-current={view === at ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
    {children}
  </Shell>
);
